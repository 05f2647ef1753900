/** The list of known failures of Solana relayers. For each, a named test shows that it does not happen. */
import t from 'tap';
import { checkFailureList } from '../../support/failure-list.ts';
import { FAILURES } from './failures.ts';

const FAILURES_OF_ALL = 55;

const numbers = Array.from({ length: FAILURES_OF_ALL }, (_, index) => index + 1);

checkFailureList(t, {
  parts: [FAILURES],
  names: [...numbers.map(String), 'again', 'price', 'cancel', 'signed', 'swap'],
  scenarios: 'solana-scenarios',
});
