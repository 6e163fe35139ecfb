/** The calendar month of a moment in UTC, such as `2026-11`. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);
