/** The list of failures that relayers of Solana have had: each is shown not to happen by a named test. */
import t from 'tap';
import { checkFailureList } from '../../support/failure-list.ts';
import { FAILURES } from './failures.ts';

const FAILURES_OF_ALL = 55;
/** Those are about swaps of tokens, which there are none of. */
const OF_SWAPS = [46, 47, 48];

const numbers = Array.from({ length: FAILURES_OF_ALL }, (_, index) => index + 1);

checkFailureList(t, {
  parts: [FAILURES],
  names: [...numbers.filter((number) => !OF_SWAPS.includes(number)).map(String), 'cancel'],
  scenarios: 'integration/solana-scenarios',
});
