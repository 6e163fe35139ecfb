import { readFileSync } from 'node:fs';
import { SetupProblem } from './setup-problem.mjs';

/**
 * Debian's archive for machines of another distribution, whose own sources do not name it. Where it is and its keys both
 * come from signed packages of that distribution: debootstrap is what installs a Debian from anywhere.
 */
export const packagesAboutDebian = ['debian-archive-keyring', 'debootstrap'];

/**
 * The lines of a sources.list with Debian's packages, by the setting ADSWEEP_DEBIAN_MIRROR or else by debootstrap.
 * @param {string} folder where `packagesAboutDebian` are unpacked @param {string | undefined} mirror what is set
 */
export function debianSources(folder, mirror) {
  const address = mirror || mirrorOfDebootstrap(readFileSync(`${folder}/usr/sbin/debootstrap`, 'utf8'));
  if (!/^https?:\/\/[^\s\]]+$/.test(address))
    throw new SetupProblem(`ADSWEEP_DEBIAN_MIRROR must be an address such as http://mirror.example/debian: ${address}`);
  const base = address.replace(/\/+$/, '');
  const signed = `deb [signed-by=${folder}/usr/share/keyrings/debian-archive-keyring.gpg]`;
  return `${signed} ${base} bookworm main\n${signed} ${base}-security bookworm-security main\n`;
}

/** @param {string} script the program debootstrap */
function mirrorOfDebootstrap(script) {
  const named = /^DEF_MIRROR="?([^"\n]+)"?$/m.exec(script)?.[1];
  if (named) return named;
  throw new SetupProblem("this machine's packages do not name Debian's archive. Set its address and run again:", [
    '  ADSWEEP_DEBIAN_MIRROR=http://mirror.example/debian',
  ]);
}
