import t from 'tap';
import { storeFor } from '../../../../support/store.ts';
import { intentsContract } from '../../../../support/store-contract/intents.ts';

intentsContract(t, storeFor);
