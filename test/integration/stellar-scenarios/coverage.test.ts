/** The list of known failures of Stellar relayers. For each, a named test shows that it does not happen. */
import t from 'tap';
import { checkFailureList } from '../../support/failure-list.ts';
import { FAILURES } from './failures.ts';

const FAILURES_OF_ALL = 40;

const numbers = Array.from({ length: FAILURES_OF_ALL }, (_, index) => index + 1);

checkFailureList(t, {
  parts: [FAILURES],
  names: [...numbers.map(String), 'cancel', 'reset', 'drift', 'drain', 'swap'],
  scenarios: 'stellar-scenarios',
});
