"""A result as an interactive page: one HTML file that loads nothing from the network."""

from __future__ import annotations

from typing import Any, ClassVar

from milp_trees.common.registering import register
from milp_trees.exports._program import Program
from milp_trees.exports.pages.tree_page import check, check_time, tree_page
from milp_trees.models.exporting import Export


@register
class Html(Export):
    """The model drawn, with its rows, the way of a given row, its certificate, and other splits.

    Parameters
    ----------
    title : str, default=""
        Title of the page; by default what the model is for.
    seconds : float, default=5
        Time for computing what else could be asked at the nodes; 0 for none.
    most : int, default=12
        Number of other splits that are listed per node.
    proof : str, default=""
        Proof file of the result, which is checked, so that the page says what it proves. `milp-trees
        export` takes the one beside the stored result.
    proof_seconds : float, default=60
        Time for checking it; if it is over, the page says that the file was not checked.
    """

    name: ClassVar[str] = "html"
    about: ClassVar[str] = "interactive page"
    suffix: ClassVar[str] = ".html"
    mark: ClassVar[str] = '<meta name="generator" content="milp-trees">'
    of_result: ClassVar[bool] = True
    drawing: ClassVar[bool] = True

    def __init__(
        self,
        title: str = "",
        seconds: float = 5.0,
        most: int = 12,
        proof: str = "",
        proof_seconds: float = 60.0,
    ) -> None:
        check(seconds, most)
        check_time(proof_seconds, "proof_seconds")
        self.title, self.seconds, self.most = title, seconds, most
        self.proof, self.proof_seconds = proof, proof_seconds

    def write(self, model: Any) -> str:
        from milp_trees.exports.pages.shown import check_shown

        model, checks = check_shown(model, self.proof, self.proof_seconds)
        columns = [c.to_json() for c in Program.of(model.predictor).columns]
        return tree_page(
            model, columns, checks, title=self.title, seconds=self.seconds, most=self.most
        )
