import t from 'tap';
import { storeFor } from '../../../support/store.ts';
import { historyContract } from '../../../support/store-contract/history.ts';

historyContract(t, storeFor);
