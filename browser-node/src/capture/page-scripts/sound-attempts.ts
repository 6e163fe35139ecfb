/** Reports the present state of one attempt to play; `started`: the browser allowed it. */
export type ReportAttempt = (muted: boolean, volume: number, started: boolean, hasAudio: boolean) => void;
/** A new attempt, by the call that tries. */
export type BeginAttempt = (via: string) => ReportAttempt;

/**
 * Runs in the page: what `report` takes of the attempts of one document. The first are told whenever they change; after that only what
 * is louder than all before, so that a thousand muted attempts neither flood the record nor hide a loud one.
 */
export function boundAttempts(report: (line: string) => void): BeginAttempt {
  const TOLD_MAX = 20;
  const mark = Math.random().toString(36).slice(2);
  let attempts = 0;
  let told = 0;
  let loudest = 0;
  return (via) => {
    const id = `${mark}.${++attempts}`;
    let last = '';
    return (muted, volume, started, hasAudio) => {
      const line = `${id}|${via}|${muted}|${volume}|${started}|${hasAudio}`;
      const audible = !muted && volume > 0;
      const loudness = (audible ? 4 : 0) + (hasAudio ? 2 : 0) + (audible && hasAudio && started ? 1 : 0);
      if (line === last || (told >= TOLD_MAX && loudness <= loudest)) return;
      last = line;
      told += 1;
      if (loudness > loudest) loudest = loudness;
      report(line);
    };
  };
}
