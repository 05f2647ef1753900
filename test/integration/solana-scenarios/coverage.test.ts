/** The list of failures that relayers of Solana have had: each is shown not to happen by a named test. */
import t from 'tap';
import { checkFailureList } from '../../support/failure-list.ts';
import { FAILURES } from './failures.ts';

const FAILURES_OF_ALL = 55;

const numbers = Array.from({ length: FAILURES_OF_ALL }, (_, index) => index + 1);

checkFailureList(t, {
  parts: [FAILURES],
  names: [...numbers.map(String), 'again', 'cancel', 'signed', 'swap'],
  scenarios: 'solana-scenarios',
});
