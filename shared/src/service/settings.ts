import { type TInteger, type TString, Type } from 'typebox';

/** What the settings of several services have in common. Every setting has a description and, unless it must be set, a default. */

/** A port to listen on. */
export const portSetting = (port: number, description: string, maximum = 65_535): TInteger =>
  Type.Integer({ default: port, minimum: 0, maximum, description });

/** A secret that must be set; too short a one could be guessed. */
export const secretSetting = (description: string): TString =>
  Type.String({ minLength: 16, secret: true, description });

/** `ADSWEEP_LOG_LEVEL` of every process. */
export const logLevelSetting = Type.String({
  default: 'info',
  pattern: '^(trace|debug|info|warn|error|fatal)$',
  description: 'Least level of log lines.',
});
