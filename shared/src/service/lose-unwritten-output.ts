/**
 * From now on, what this process prints beside its log and cannot be written, as on a full disk or to a pipe without a
 * reader, is lost. Without this it would end the process.
 */
export function loseUnwrittenOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
