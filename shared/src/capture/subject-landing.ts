/** The ordinal of the tab that a capture is about; the others were opened by it. */
export const SUBJECT_ORD = 0;

/** The landing that a capture is about: a page's own tab. undefined where the capture failed before it opened. */
export const subjectLanding = <L extends { ord: number }>(landings: readonly L[]): L | undefined =>
  landings.find(({ ord }) => ord === SUBJECT_ORD);

/** The landings that the subject opened by itself. */
export const openedLandings = <L extends { ord: number }>(landings: readonly L[]): L[] =>
  landings.filter(({ ord }) => ord !== SUBJECT_ORD);
