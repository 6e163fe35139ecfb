// Tabs of the browser's own window system are left out: they would only double the pages.
const FILTER = [
  { type: 'browser', exclude: true },
  { type: 'browser_ui', exclude: true },
  { type: 'tab', exclude: true },
  {},
];

/**
 * Parameters of `Target.setAutoAttach`. `paused`: targets wait at their start until they are observed. Frames and workers do: otherwise
 * half of the frames that navigate at once had no contents. Playwright pauses them too, and neither client resumes them for the other. Tabs
 * are never paused by us: Playwright would miss their first requests.
 */
export const autoAttach = ({ paused }: { paused: boolean }) => ({
  autoAttach: true,
  flatten: true,
  waitForDebuggerOnStart: paused,
  filter: FILTER,
});
