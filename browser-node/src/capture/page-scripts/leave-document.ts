/** Runs in the page, in a world of its own: navigates away from the document, whose unload handlers then run without a time limit. */
export function leaveDocument(): void {
  location.replace('about:blank');
}
