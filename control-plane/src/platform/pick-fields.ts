/** An object with the named fields of another one, in this order. */
export const pickFields = <T, K extends keyof T>(of: T, ...fields: K[]): Pick<T, K> =>
  Object.fromEntries(fields.map((field) => [field, of[field]])) as Pick<T, K>;
