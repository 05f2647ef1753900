/** The list of failures that relayers of Stellar have had: each is shown not to happen by a named test. */
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
