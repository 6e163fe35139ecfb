/**
 * Why a text is not JSON, by the error of `JSON.parse`, without the excerpt of the text that V8 quotes: it may be a
 * password.
 */
export const jsonProblem = (error: unknown): string =>
  (error as Error).message.replace(/, (\.\.\.)?".*is not valid JSON$/s, '');
