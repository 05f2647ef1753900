import t from 'tap';
import { storeFor } from '../../../../../support/store.ts';
import { settingsLockContract } from '../../../../../support/store-contract/settings-lock.ts';

settingsLockContract(t, storeFor);
