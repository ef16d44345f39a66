"""What a method answers: results, certificates, tables and files of them."""
