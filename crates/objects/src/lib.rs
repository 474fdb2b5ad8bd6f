//! What an object is: the table of kinds, metadata rules, patches, field selectors, tables, discovery.
