/** The list of failures that relayers of Solana have had: each is shown not to happen by a named test. */
import t from 'tap';
import { checkFailureList } from '../../support/failure-list.ts';
import { FAILURES } from './failures.ts';

/** Of the list's 55; the others are about swaps and relayers that are made over the API. */
const SHOWN_HERE = new Set([
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30],
  ...[31, 32, 33, 34, 35, 38, 39, 41, 42, 43, 44, 45, 51, 53, 55],
]);

checkFailureList(t, {
  parts: [FAILURES],
  names: [...[...SHOWN_HERE].map(String), 'cancel'],
  scenarios: 'integration/solana-scenarios',
});
