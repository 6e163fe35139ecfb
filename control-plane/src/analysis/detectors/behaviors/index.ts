import type { Detector } from '../detector.ts';
import { autosound } from './autosound.ts';
import { backButton } from './back-button.ts';
import { invalidCertificate } from './invalid-certificate.ts';

/** What is read from a landing's own behaviour, in the order in which tags are listed. */
export const behaviors: Detector[] = [backButton, autosound, invalidCertificate];
