"""The exact dynamic programme over bit-packed rows."""
