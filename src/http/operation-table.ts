import { apiKeyOperations } from '../features/api-keys/operations.ts';
import { auditOperations, auditRecordSchema } from '../features/audit/operations.ts';
import { callOperations, callRecordSchema, callSchema } from '../features/calls/operations.ts';
import { pluginCallOperations, pluginOperations, pluginSchema } from '../features/plugins/operations.ts';
import { relayerOperations } from '../features/relayers/operations.ts';
import { RESOURCES } from '../features/resource-table.ts';
import { signingOperations } from '../features/signing/operations.ts';
import { batchOperations } from '../features/transactions/batch-operations.ts';
import {
  lifecycleOperations,
  timelineEventSchema,
  timelineSchema,
  transactionOperations,
} from '../features/transactions/operations.ts';
import { hookOperations, triggerOperations } from '../features/triggers/operations.ts';
import { deliveryOperations, deliverySchema, wholeDeliverySchema } from '../features/webhooks/operations.ts';
import { failureSchema, pluginFailureSchema, readinessSchema } from './openapi/answers.ts';
import { type ChainBodies, type DescribedOperation, describedOperation, type Operation } from './operation.ts';
import { resourceOperations, resourceSchemaName } from './resource-operations.ts';
import { eventOperations } from './routes/events.ts';
import { healthOperations } from './routes/health.ts';
import { metricOperations } from './routes/metrics.ts';
import { descriptionOperation } from './routes/pages.ts';

/** The operations whose bodies must be JSON. */
export const API_OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  ...relayerOperations,
  ...transactionOperations,
  ...batchOperations,
  ...lifecycleOperations,
  ...pluginOperations,
  ...callOperations,
  ...triggerOperations,
  ...RESOURCES.flatMap(resourceOperations),
  ...deliveryOperations,
  ...signingOperations,
  ...apiKeyOperations,
  ...auditOperations,
  ...eventOperations,
  ...metricOperations,
];

export const ALL_OPERATIONS: readonly Operation[] = [
  ...API_OPERATIONS,
  ...pluginCallOperations,
  ...hookOperations,
  descriptionOperation,
];

/** All operations with what is said of them, by method and path. */
export function describedOperations(chains: ChainBodies): Readonly<Record<string, DescribedOperation>> {
  return Object.fromEntries(
    ALL_OPERATIONS.map((one) => [`${one.method} ${one.path}`, describedOperation(one, chains)]),
  );
}

/** The schemas that the description shows under names of their own. */
export const NAMED_ANSWERS = {
  Plugin: pluginSchema,
  PluginCall: callSchema,
  PluginCallRecord: callRecordSchema,
  Timeline: timelineSchema,
  TimelineEvent: timelineEventSchema,
  ...Object.fromEntries(RESOURCES.map((kind) => [resourceSchemaName(kind), kind.schema])),
  Delivery: deliverySchema,
  WholeDelivery: wholeDeliverySchema,
  AuditRecord: auditRecordSchema,
  Failure: failureSchema,
  PluginFailure: pluginFailureSchema,
  Readiness: readinessSchema,
} as const;
