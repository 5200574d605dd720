"""The store on the standard library's sqlite3."""
