"""Sharded training made short: what a package that one installs looks like."""

from shardkit import bridge as bridge
from shardkit import launch as launch
from shardkit import layouts as layouts
from shardkit import trainer as trainer
from shardkit import typing as typing
from shardkit.launch import run as run
from shardkit.meshes import MESH as MESH
from shardkit.meshes import make_mesh as make_mesh
from shardkit.meshes import one_device_mesh as one_device_mesh
from shardkit.settings import SETTINGS as SETTINGS
from shardkit.settings import Settings as Settings
from shardkit.trainer import Loader as Loader
from shardkit.trainer import Trainer as Trainer
