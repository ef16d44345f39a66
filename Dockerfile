# milp-trees with everything compiled ahead: `docker build -t milp-trees .`, then
# `docker run --rm -v "$PWD:/data" milp-trees solve /data/table.csv`.
FROM python:3.13-slim

# Compiled code is found again by the processor that it was compiled for: a container on another one
# compiles once more, into the same folder.
ENV NUMBA_CACHE_DIR=/opt/milp-trees
COPY pyproject.toml README.md LICENSE /src/
COPY milp_trees /src/milp_trees
COPY formulations /src/formulations
COPY solvers /src/solvers
RUN pip install --no-cache-dir "/src[scip,cpsat,parquet]" \
    && rm -rf /src \
    && milp-trees warm-up \
    && chmod -R a+rwX /opt/milp-trees

RUN useradd --create-home user
USER user
WORKDIR /data
ENTRYPOINT ["milp-trees"]
CMD ["--help"]
