import { autosound } from './autosound.ts';
import { backButton } from './back-button.ts';
import { certificates } from './certificates.ts';
import type { Collector } from './collector.ts';
import { contents } from './contents.ts';
import { dialogs } from './dialogs.ts';
import { documents } from './documents.ts';
import { redirectChain } from './redirect-chain.ts';
import { requests } from './requests.ts';
import { screenshots } from './screenshots.ts';

/**
 * What is collected while the tabs are open, in this order: a picture may grant the page user activation, after which nothing it does
 * is observed, and the Back probe leaves the page.
 */
export const whileOpen: Collector[] = [dialogs, certificates, documents, autosound, screenshots, contents, backButton];

/** What is collected when the tabs are closed and the gateway has told what it carried. Requests fill in hops that were missed. */
export const afterwards: Collector[] = [requests, redirectChain];
