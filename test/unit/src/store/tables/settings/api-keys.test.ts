import t from 'tap';
import { storeFor } from '../../../../../support/store.ts';
import { apiKeysContract } from '../../../../../support/store-contract/api-keys.ts';

apiKeysContract(t, storeFor);
