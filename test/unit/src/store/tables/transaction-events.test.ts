import t from 'tap';
import { storeFor } from '../../../../support/store.ts';
import { transactionEventsContract } from '../../../../support/store-contract/transaction-events.ts';

transactionEventsContract(t, storeFor);
