import t from 'tap';
import { storeFor } from '../../../../support/store.ts';
import { decisionsContract } from '../../../../support/store-contract/decisions.ts';

decisionsContract(t, storeFor);
