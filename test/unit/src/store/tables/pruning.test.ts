import t from 'tap';
import { storeFor } from '../../../../support/store.ts';
import { pruningContract } from '../../../../support/store-contract/pruning.ts';

pruningContract(t, storeFor);
