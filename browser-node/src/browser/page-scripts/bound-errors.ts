/**
 * The most uncaught errors that one document or worker reports to the browser, and the most characters of their
 * messages.
 */
export type ErrorBounds = { errors: number; characters: number };

/**
 * For pages, frames and workers: beyond the bounds, uncaught errors are not reported to the browser, which writes each
 * of them to DevTools and would keep all other pages waiting. The page's own listeners still get them (HTML standard,
 * "report an exception").
 */
export function boundErrors({ errors, characters }: ErrorBounds): void {
  const { apply, getOwnPropertyDescriptor } = Reflect;
  const { preventDefault } = Event.prototype;
  // Read now: a page may replace it. Worklets have no such events.
  const readMessage =
    typeof ErrorEvent === 'function' && getOwnPropertyDescriptor(ErrorEvent.prototype, 'message')?.get;
  if (!readMessage) return;
  let [errorsLeft, charactersLeft] = [errors, characters];
  const count = (event: Event, length: number): void => {
    errorsLeft -= 1;
    charactersLeft -= length;
    if (errorsLeft < 0 || charactersLeft < 0) apply(preventDefault, event, []);
  };
  const onError = (event: Event): void => {
    let length = 0;
    try {
      length = (apply(readMessage, event, []) as string).length;
    } catch {
      // A picture or script that did not load, which is reported otherwise.
      return;
    }
    count(event, length);
  };
  // The first listeners of all, so that no page can keep an event from them.
  addEventListener('error', onError, { capture: true });
  // Its reason is the page's own object, which would notice that it is read.
  addEventListener('unhandledrejection', (event) => count(event, 0), { capture: true });
}
