"""The `holdfast` command. `parser` lists its commands; each is loaded when it is asked for."""
