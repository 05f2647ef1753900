import { apiKeyResource } from './api-keys/api-keys.ts';
import { networkResource } from './networks/networks.ts';
import { signerResource } from './signers/signers.ts';
import { notificationResource } from './webhooks/notifications.ts';

/** The resources, in the order of the API's description. */
export const RESOURCES = [notificationResource, signerResource, networkResource, apiKeyResource] as const;
