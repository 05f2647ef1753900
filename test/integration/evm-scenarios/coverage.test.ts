/** The list of failures that relayers of this kind have had: each is shown not to happen by a named test. */
import t from 'tap';
import { checkFailureList } from '../../support/failure-list.ts';
import { SERVICE_FAILURES } from './service-failures.ts';
import { TRANSACTION_FAILURES } from './transaction-failures.ts';

const FAILURES = 85;

checkFailureList(t, {
  parts: [TRANSACTION_FAILURES, SERVICE_FAILURES],
  names: [...Array.from({ length: FAILURES }, (_, index) => String(index + 1)), 'first invariant', 'second invariant'],
  scenarios: 'evm-scenarios',
});
