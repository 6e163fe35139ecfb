import { openStore } from '../src/platform/store.ts';
import { describeStore } from './store/describe-store.ts';

describeStore('the embedded store', () => openStore({ path: ':memory:' }));
