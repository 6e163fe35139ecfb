import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Preloaded into a process: kills it, as a crash would, between the two last steps of a log rotation. */
const { renameSync, truncateSync } = fs;
let steps = 0;
const dieAtTheSecondStep = () => {
  steps += 1;
  if (steps === 2) process.kill(process.pid, 'SIGKILL');
};
fs.renameSync = (from, to) => {
  dieAtTheSecondStep();
  renameSync(from, to);
};
fs.truncateSync = (file, length) => {
  dieAtTheSecondStep();
  truncateSync(file, length);
};
syncBuiltinESMExports();
