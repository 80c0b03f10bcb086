"""The command line: talks to local.wire or to a remote server over HTTP; holds no rule."""
