import t from 'tap';
import { storeFor } from '../../../../support/store.ts';
import { chainIdentitiesContract } from '../../../../support/store-contract/chain-identities.ts';

chainIdentitiesContract(t, storeFor);
