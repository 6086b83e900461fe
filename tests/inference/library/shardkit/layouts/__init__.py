"""How arrays lie on the mesh."""

from ..meshes import *  # noqa: F403 - packages do this
from .named import *  # noqa: F403
