/** Runs in the page, in a world of its own: leaves the document, whose own handlers of leaving then run in its own time. */
export function leaveDocument(): void {
  location.replace('about:blank');
}
