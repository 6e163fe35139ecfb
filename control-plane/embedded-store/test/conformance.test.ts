import { openEmbedded } from '../src/open-embedded.ts';
import { describeStore } from './conformance/describe-store.ts';

describeStore('the embedded store', () => openEmbedded(':memory:'));
