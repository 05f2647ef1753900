import t from 'tap';
import { storeFor } from '../../../support/store.ts';
import { storeContract } from '../../../support/store-contract/contract.ts';

storeContract(t, storeFor);
