"""The ledger's pure half: events, changes, the chain, undo. Storage is `store.ledger`."""
