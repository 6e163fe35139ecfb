import { lookup } from 'node:dns/promises';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { demoExits } from './exits.ts';

/**
 * Puts the demo's exits into an exits file, with the ad world at this machine's own address, as other containers reach it. What the file held
 * stays beside it in `<file>.before-demo`, also over a crash. Returns the function that puts it back.
 */
export async function lendExitsFile(file: string, port: number): Promise<() => void> {
  const { address } = await lookup(hostname(), { family: 4 });
  const kept = `${file}.before-demo`;
  if (existsSync(file) && !existsSync(kept)) renameSync(file, kept);
  writeFileSync(`${file}.new`, JSON.stringify(demoExits(port, address), null, 2));
  renameSync(`${file}.new`, file);
  return () => {
    if (existsSync(kept)) renameSync(kept, file);
    else rmSync(file, { force: true });
  };
}
