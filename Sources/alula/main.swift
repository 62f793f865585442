import Commands

// Nothing else happens here: top-level code is isolated, and callbacks formed in isolated code must not reach C.
AlulaCommand.run()
