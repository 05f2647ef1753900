/** The list of known failures of EVM relayers. For each, a named test shows that it does not happen. */
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
