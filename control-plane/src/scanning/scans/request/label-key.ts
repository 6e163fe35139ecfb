/**
 * A label's key: snake case, so that it can be part of a query parameter (`label_<key>`) and a field of a stored
 * document.
 */
export const LABEL_KEY = /^[a-z][a-z0-9_]{0,63}$/;
