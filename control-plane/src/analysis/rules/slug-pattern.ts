/** How a tag is called. */
export const SLUG_PATTERN = '^[a-z0-9][a-z0-9_-]{0,99}$';
