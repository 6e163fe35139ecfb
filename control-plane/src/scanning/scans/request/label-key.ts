/** A label's key: snake case, so that it can stand in a query parameter (`label_<key>`) and in a stored document. */
export const LABEL_KEY = /^[a-z][a-z0-9_]{0,63}$/;
