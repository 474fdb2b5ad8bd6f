//! The HTTP shell of Masthead: TLS, authentication, routes, streaming.
