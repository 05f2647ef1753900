// Made by `npm run client` from the description of the API; a test holds it to that.

/** What the API takes and answers. */
export interface Schemas {
  "Plugin": { "id": string; "path": string; "timeout": number; "emit_logs": boolean; "emit_traces": boolean; "emit_usage": boolean; "raw_response": boolean; "allow_get_invocation": boolean; "forward_logs": boolean; "config": Record<string, string> | null; "isolation": "plugin" | "call"; "durable": boolean; "enabled": boolean; "state": "serving" | "broken" | "compiling" | "backing-off"; "version": { "hash": string; "since": string } | null; "error": { "code": string; "message": string; "file": string | null; "line": number | null; "column": number | null; "since": string | null } | null; "back_off": { "reason": string; "until": string } | null; "reads": { "environment": ({ "name": string; "granted": boolean; "missing": string | null })[]; "fetches": boolean; "hosts": ({ "host": string; "granted": boolean; "missing": string | null })[]; "more": boolean } | null; "permissions": { "relayers": Record<string, { "methods": ("read" | "send" | "sign" | "rpc")[]; "recipients"?: (string)[]; "selectors"?: (string)[]; "value_per_call"?: string; "value_per_hour"?: string; "fee_per_hour"?: string; "last_hour"?: { "value": string; "fee": string } }>; "hosts": ({ "host": string; "private": boolean; "methods"?: (string)[]; "max_bytes": number; "timeout_ms": number })[]; "env": (string)[]; "kv": boolean }; "triggers": ({ "name": string; "kind": "cron" | "every" | "transaction" | "balance" | "webhook"; "cron": string | null; "time_zone": string | null; "every": string | null; "state": "active" | "paused" | "paused-by-throws"; "next_at": string | null; "last_call": string | null; "last_at": string | null; "fired": number; "skipped": number })[]; "limits": { "memory_mb": number; "process_mb": number; "slice_ms": number; "cpu_ms": number; "concurrency": number; "processes": number; "calls": number; "result_bytes": number; "kv_keys": number; "kv_bytes": number; "kv_value_bytes": number; "lifetime": string }; "kv_usage": { "keys": number; "bytes": number }; "now": { "processes": number; "isolates": number; "resident_bytes": number; "calls_running": number; "calls_queued": number }; "last_hour": { "since": string; "calls": number; "outcomes": Record<string, number>; "cpu_ms": number; "heap_peak_bytes": number; "capability_calls": number; "bytes_in": number; "bytes_out": number } };
  "PluginCall": { "id": string; "plugin_id": string; "key": string; "key_id": string; "state": "running" | "waiting" | "returned" | "threw" | "canceled" | "expired"; "waits_for": ({ "kind": "time" | "event" | "transaction" | "plugin"; "name": string | null; "transaction_id": string | null; "until": string })[]; "tries": number; "version": string | null; "trigger": { "name": string; "at": string } | null; "created_at": string; "expires_at": string; "ended_at": string | null; "answer": unknown; "error": { "code": string; "message": string; "status": number; "details": unknown } | null };
  "PluginCallRecord": { "format": 1; "plugin": string; "version": string; "seed": string; "now": number; "context": unknown; "deliveries": ({ "request": number; "method": string; "payload"?: unknown; "hash"?: string; "at": number; "answer": { "ok": boolean; "value"?: unknown; "error"?: unknown } })[]; "outcome": unknown };
  "Timeline": { "transaction_id": string; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "inclusion": Record<string, unknown> | null; "original": Record<string, unknown> | null; "events": (Schemas["TimelineEvent"])[]; "omitted": number };
  "TimelineEvent": { "at": string; "event": "accepted" } | { "at": string; "event": "cancel_requested" | "replace_requested" } | { "at": string; "event": "cancel_refused" | "replace_refused"; "text": string } | { "at": string; "event": "signed"; "version": number; "purpose": "send" | "bump" | "replace" | "noop"; "hash": string; "content"?: Record<string, unknown> } | { "at": string; "event": "submitted"; "version": number; "hash": string; "endpoint"?: string } | { "at": string; "event": "decided"; "decision": "parked" | "resumed" | "canceling" | "canceled" | "replaced" | "bumped" | "expired" | "noop-signed" | "refused" | "not-taken" | "mined" | "reorganised" | "gap-filled" | "dead" | "fallback" | "adopted"; "text": string } | { "at": string; "event": "ended"; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "hash": string | null; "text"?: string; "inclusion"?: Record<string, unknown> };
  "Notification": { "id": string; "type": "webhook"; "url": string; "has_signing_key": boolean; "has_second_signing_key"?: true };
  "Signer": { "id": string; "type": string; "config": Record<string, unknown> };
  "Network": { "id": string; "name": string; "network_type": "evm" | "solana" | "stellar"; "rpc_urls": ({ "url": string; "weight": number })[]; "explorer_urls"?: (string)[]; "average_blocktime_ms"?: number; "is_testnet"?: boolean; "tags"?: (string)[]; "source": "api" | "file" | "built-in" };
  "ApiKey": { "id": string; "name": string; "allowed_origins": (string)[]; "created_at": string; "permissions": (string)[]; "rate_limit": { "requests_per_second": number; "burst": number } | null; "expires_at": string | null };
  "Delivery": { "id": string; "notification_id": string; "relayer_id": string | null; "transaction_id": string | null; "event": "transaction_update" | "relayer_state_update" | "relayer_balance_low" | "sign_transaction" | "sign_and_send_transaction" | "transfer_transaction" | "solana_dex" | "stellar_dex_queued" | "stellar_dex" | "plugin_trigger_paused"; "state": "waiting" | "delivered" | "dead" | "dropped"; "tries": number; "outcome": string | null; "created_at": string; "next_try_at": string | null; "ended_at": string | null };
  "WholeDelivery": { "id": string; "notification_id": string; "relayer_id": string | null; "transaction_id": string | null; "event": "transaction_update" | "relayer_state_update" | "relayer_balance_low" | "sign_transaction" | "sign_and_send_transaction" | "transfer_transaction" | "solana_dex" | "stellar_dex_queued" | "stellar_dex" | "plugin_trigger_paused"; "state": "waiting" | "delivered" | "dead" | "dropped"; "tries": number; "outcome": string | null; "created_at": string; "next_try_at": string | null; "ended_at": string | null; "body": string };
  "AuditRecord": { "id": number; "at": string; "key_id": string; "request_id": string; "action": "create" | "update" | "delete" | "redeliver" | "send" | "replace" | "cancel" | "sign" | "pass" | "fire" | "pause" | "resume"; "resource": "relayer" | "notification" | "delivery" | "transaction" | "network" | "signer" | "plugin" | "api_key" | "signature"; "resource_id": string; "before": Record<string, unknown> | null; "after": Record<string, unknown> | null; "secrets": (string)[] };
  "Failure": { "success": false; "data": null; "error": string; "message": string; "code": "INVALID_REQUEST" | "UNAUTHORIZED" | "WEBHOOK_REFUSED" | "RELAYER_PAUSED" | "RELAYER_DISABLED" | "GRANT_EXCEEDED" | "BUDGET_SPENT" | "NOT_PERMITTED" | "PERMISSION_NOT_HELD" | "ORIGIN_NOT_ALLOWED" | "PLUGIN_DISABLED" | "ROUTE_NOT_FOUND" | "RELAYER_NOT_FOUND" | "NOTIFICATION_NOT_FOUND" | "DELIVERY_NOT_FOUND" | "API_KEY_NOT_FOUND" | "SIGNER_NOT_FOUND" | "NETWORK_NOT_FOUND" | "TRANSACTION_NOT_FOUND" | "NONCE_NOT_FOUND" | "METRIC_NOT_FOUND" | "PLUGIN_NOT_FOUND" | "CALL_NOT_FOUND" | "TRIGGER_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "PLUGIN_GET_DISABLED" | "REQUEST_TIMEOUT" | "NOTIFICATION_EXISTS" | "NOTIFICATION_IN_USE" | "SIGNER_EXISTS" | "SIGNER_IN_USE" | "NETWORK_EXISTS" | "NETWORK_IN_USE" | "RELAYER_EXISTS" | "RELAYER_ID_KEPT" | "RELAYER_BUSY" | "TRIGGER_PAUSED" | "IDEMPOTENCY_MISMATCH" | "EFFECT_MISMATCH" | "JOURNAL_FULL" | "EFFECT_UNKNOWN" | "IDEMPOTENCY_RUNNING" | "ANSWER_NOT_KEPT" | "FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RELAYER_LIMITED" | "TOO_MANY_REQUESTS" | "INTERNAL" | "SIGNER_FAILED" | "SIGNER_UNUSABLE" | "PROVIDER_FAILED" | "TRANSACTION_EXISTS" | "NOT_SUPPORTED" | "NONCE_LOOKUP_NOT_SUPPORTED" | "NOT_AVAILABLE_YET" | "LOCK_HELD_ELSEWHERE" | "UNAVAILABLE" | "HANDLER_TIMEOUT"; "retryable": boolean; "disabled_reason"?: { "type": string; "details": string; "next_check_at"?: string } | { "type": "Multiple"; "details": ({ "type": string; "details": string })[]; "next_check_at"?: string }; "after"?: number };
  "PluginFailure": { "success": false; "data": { "code": string; "details": unknown }; "error": string; "metadata"?: { "logs"?: ({ "level": "log" | "debug" | "info" | "warn" | "error" | "result"; "message": string })[]; "traces"?: ({ "method": string; "relayerId": string; "requestId": string; "payload": unknown; "durationMs": number; "outcome": "ok" | "error" | "refused" | "running" })[]; "usage"?: { "cpu_ms": number; "calls": number; "heap_bytes": number; "bytes_in": number; "bytes_out": number; "duration_ms": number } } };
  "Readiness": { "ready": boolean; "status": "healthy" | "degraded" | "unhealthy"; "reason"?: string; "components": Record<string, { "status": "healthy" | "degraded" | "unhealthy"; "error"?: string }>; "timestamp": string };
  "Relayer": { "id": string; "name": string; "network": string; "network_type": "evm" | "solana" | "stellar"; "paused": boolean; "policies"?: Record<string, unknown>; "signer_id": string; "notification_id"?: string; "custom_rpc_urls"?: ({ "url": string; "weight": number })[]; "address": string; "system_disabled": boolean; "disabled_reason"?: { "type": "RpcValidationFailed" | "BalanceCheckFailed" | "PolicyCheckFailed" | "SignerCheckFailed" | "NonceSyncFailed" | "SequenceSyncFailed"; "details": string; "next_check_at"?: string } | { "type": "Multiple"; "details": ({ "type": "RpcValidationFailed" | "BalanceCheckFailed" | "PolicyCheckFailed" | "SignerCheckFailed" | "NonceSyncFailed" | "SequenceSyncFailed"; "details": string })[]; "next_check_at"?: string } };
  "RelayerStatus": { "network_type": "evm" | "solana" | "stellar"; "balance": string | null; "pending_transactions_count": number; "last_confirmed_transaction_timestamp": string | null; "system_disabled": boolean; "paused": boolean; "nonce"?: string | null; "sequence_number"?: string | null; "unavailable"?: Record<string, string> };
  "Balance": { "balance": number | bigint | null; "unit": "wei" | "lamport" | "stroop"; "unavailable"?: Record<string, string> };
  "Transaction": { "id": string; "hash": string | null; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "status_reason": string | null; "created_at": string; "sent_at": string | null; "confirmed_at": string | null; "gas_price": string | null; "gas_limit": number | bigint | null; "nonce": number | bigint | null; "value": string; "from": string; "to": string | null; "relayer_id": string; "data": string | null; "max_fee_per_gas": string | null; "max_priority_fee_per_gas": string | null; "signature": { "r": string; "s": string; "v": number; "sig": string } | null; "speed": "fastest" | "fast" | "average" | "safeLow" | null; "is_canceled": boolean | null; "contract_address"?: string | null; "access_list"?: ({ "address": string; "storage_keys": (string)[] })[]; "authorization_list"?: ({ "chain_id": number | string; "address": string; "nonce": number | string; "y_parity": number; "r": string; "s": string })[] } | { "id": string; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "created_at": string; "transaction": string; "signature"?: string; "status_reason"?: string; "sent_at"?: string; "confirmed_at"?: string; "instructions"?: ({ "program_id": string; "accounts": ({ "pubkey": string; "is_signer": boolean; "is_writable": boolean })[]; "data": string })[] } | { "id": string; "hash": string | null; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "status_reason": string | null; "created_at": string; "sent_at": string | null; "confirmed_at": string | null; "source_account": string; "fee": number; "sequence_number": string; "relayer_id": string; "transaction_result_xdr"?: string } | { "id": string; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "status_reason": string | null };
  "HealthAnswer": "OK";
  "ListRelayersAnswer": { "success": true; "data": (Schemas["Relayer"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "CreateRelayerAnswer": { "success": true; "data": Schemas["Relayer"]; "error": null };
  "DeleteRelayerAnswer": { "success": true; "data": string; "error": null };
  "GetRelayerAnswer": { "success": true; "data": Schemas["Relayer"]; "error": null };
  "UpdateRelayerAnswer": { "success": true; "data": Schemas["Relayer"]; "error": null };
  "GetRelayerStatusAnswer": { "success": true; "data": Schemas["RelayerStatus"]; "error": null };
  "GetRelayerBalanceAnswer": { "success": true; "data": Schemas["Balance"]; "error": null };
  "SendTransactionAnswer": { "success": true; "data": Schemas["Transaction"]; "error": null };
  "ListTransactionsAnswer": { "success": true; "data": (Schemas["Transaction"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "GetTransactionAnswer": { "success": true; "data": Schemas["Transaction"]; "error": null };
  "SendTransactionsAnswer": { "success": true; "data": ({ "success": true; "data": Schemas["Transaction"]; "error": null; "status": 200; "replayed"?: true } | { "success": false; "data": null; "error": string; "message": string; "code": "INVALID_REQUEST" | "UNAUTHORIZED" | "WEBHOOK_REFUSED" | "RELAYER_PAUSED" | "RELAYER_DISABLED" | "GRANT_EXCEEDED" | "BUDGET_SPENT" | "NOT_PERMITTED" | "PERMISSION_NOT_HELD" | "ORIGIN_NOT_ALLOWED" | "PLUGIN_DISABLED" | "ROUTE_NOT_FOUND" | "RELAYER_NOT_FOUND" | "NOTIFICATION_NOT_FOUND" | "DELIVERY_NOT_FOUND" | "API_KEY_NOT_FOUND" | "SIGNER_NOT_FOUND" | "NETWORK_NOT_FOUND" | "TRANSACTION_NOT_FOUND" | "NONCE_NOT_FOUND" | "METRIC_NOT_FOUND" | "PLUGIN_NOT_FOUND" | "CALL_NOT_FOUND" | "TRIGGER_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "PLUGIN_GET_DISABLED" | "REQUEST_TIMEOUT" | "NOTIFICATION_EXISTS" | "NOTIFICATION_IN_USE" | "SIGNER_EXISTS" | "SIGNER_IN_USE" | "NETWORK_EXISTS" | "NETWORK_IN_USE" | "RELAYER_EXISTS" | "RELAYER_ID_KEPT" | "RELAYER_BUSY" | "TRIGGER_PAUSED" | "IDEMPOTENCY_MISMATCH" | "EFFECT_MISMATCH" | "JOURNAL_FULL" | "EFFECT_UNKNOWN" | "IDEMPOTENCY_RUNNING" | "ANSWER_NOT_KEPT" | "FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RELAYER_LIMITED" | "TOO_MANY_REQUESTS" | "INTERNAL" | "SIGNER_FAILED" | "SIGNER_UNUSABLE" | "PROVIDER_FAILED" | "TRANSACTION_EXISTS" | "NOT_SUPPORTED" | "NONCE_LOOKUP_NOT_SUPPORTED" | "NOT_AVAILABLE_YET" | "LOCK_HELD_ELSEWHERE" | "UNAVAILABLE" | "HANDLER_TIMEOUT"; "retryable": boolean; "disabled_reason"?: { "type": string; "details": string; "next_check_at"?: string } | { "type": "Multiple"; "details": ({ "type": string; "details": string })[]; "next_check_at"?: string }; "after"?: number; "status": number })[]; "error": null };
  "ReplaceTransactionAnswer": { "success": true; "data": Schemas["Transaction"]; "error": null };
  "CancelTransactionAnswer": { "success": true; "data": Schemas["Transaction"]; "error": null };
  "DeletePendingTransactionsAnswer": { "success": true; "data": { "queued_for_cancellation_transaction_ids": (string)[]; "failed_to_queue_transaction_ids": (string)[]; "total_processed": number }; "error": null };
  "GetTransactionByNonceAnswer": { "success": true; "data": Schemas["Transaction"]; "error": null };
  "GetTransactionByHashAnswer": { "success": true; "data": Schemas["Transaction"]; "error": null };
  "GetTransactionTimelineAnswer": { "success": true; "data": Schemas["Timeline"]; "error": null };
  "ListPluginsAnswer": { "success": true; "data": (Schemas["Plugin"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "GetPluginAnswer": { "success": true; "data": Schemas["Plugin"]; "error": null };
  "UpdatePluginAnswer": { "success": true; "data": Schemas["Plugin"]; "error": null };
  "EnablePluginAnswer": { "success": true; "data": Schemas["Plugin"]; "error": null };
  "DisablePluginAnswer": { "success": true; "data": Schemas["Plugin"]; "error": null };
  "ReloadPluginAnswer": { "success": true; "data": Schemas["Plugin"]; "error": null };
  "ListPluginLogsAnswer": { "success": true; "data": ({ "request_id": string; "key_id": string; "at": string; "outcome": string; "duration_ms": number; "logs": ({ "level": "log" | "debug" | "info" | "warn" | "error"; "message": string })[] })[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "ListPluginCallsAnswer": { "success": true; "data": (Schemas["PluginCall"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "GetPluginCallAnswer": { "success": true; "data": Schemas["PluginCall"]; "error": null };
  "GetPluginCallRecordAnswer": { "success": true; "data": Schemas["PluginCallRecord"]; "error": null };
  "CancelPluginCallAnswer": { "success": true; "data": Schemas["PluginCall"]; "error": null };
  "RetryPluginCallAnswer": { "success": true; "data": Schemas["PluginCall"]; "error": null };
  "SendPluginCallEventAnswer": { "success": true; "data": Schemas["PluginCall"]; "error": null };
  "FirePluginTriggerAnswer": { "success": true; "data": { "call_id": string }; "error": null };
  "PausePluginTriggerAnswer": { "success": true; "data": { "name": string; "kind": "cron" | "every" | "transaction" | "balance" | "webhook"; "cron": string | null; "time_zone": string | null; "every": string | null; "state": "active" | "paused" | "paused-by-throws"; "next_at": string | null; "last_call": string | null; "last_at": string | null; "fired": number; "skipped": number }; "error": null };
  "ResumePluginTriggerAnswer": { "success": true; "data": { "name": string; "kind": "cron" | "every" | "transaction" | "balance" | "webhook"; "cron": string | null; "time_zone": string | null; "every": string | null; "state": "active" | "paused" | "paused-by-throws"; "next_at": string | null; "last_call": string | null; "last_at": string | null; "fired": number; "skipped": number }; "error": null };
  "ListNotificationsAnswer": { "success": true; "data": (Schemas["Notification"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "CreateNotificationAnswer": { "success": true; "data": Schemas["Notification"]; "error": null };
  "GetNotificationAnswer": { "success": true; "data": Schemas["Notification"]; "error": null };
  "UpdateNotificationAnswer": { "success": true; "data": Schemas["Notification"]; "error": null };
  "DeleteNotificationAnswer": { "success": true; "data": string; "error": null };
  "ListSignersAnswer": { "success": true; "data": (Schemas["Signer"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "CreateSignerAnswer": { "success": true; "data": Schemas["Signer"]; "error": null };
  "GetSignerAnswer": { "success": true; "data": Schemas["Signer"]; "error": null };
  "UpdateSignerAnswer": { "success": true; "data": Schemas["Signer"]; "error": null };
  "DeleteSignerAnswer": { "success": true; "data": string; "error": null };
  "ListNetworksAnswer": { "success": true; "data": (Schemas["Network"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "CreateNetworkAnswer": { "success": true; "data": Schemas["Network"]; "error": null };
  "GetNetworkAnswer": { "success": true; "data": Schemas["Network"]; "error": null };
  "UpdateNetworkAnswer": { "success": true; "data": Schemas["Network"]; "error": null };
  "DeleteNetworkAnswer": { "success": true; "data": string; "error": null };
  "ListApiKeysAnswer": { "success": true; "data": (Schemas["ApiKey"])[]; "error": null; "pagination": { "current_page": number; "per_page": number; "total_items": number } };
  "CreateApiKeyAnswer": { "success": true; "data": { "id": string; "name": string; "allowed_origins": (string)[]; "created_at": string; "permissions": (string)[]; "rate_limit": { "requests_per_second": number; "burst": number } | null; "expires_at": string | null; "key": string }; "error": null };
  "GetApiKeyAnswer": { "success": true; "data": Schemas["ApiKey"]; "error": null };
  "UpdateApiKeyAnswer": { "success": true; "data": Schemas["ApiKey"]; "error": null };
  "DeleteApiKeyAnswer": { "success": true; "data": string; "error": null };
  "ListDeliveriesAnswer": { "success": true; "data": (Schemas["Delivery"])[]; "error": null; "pagination": { "per_page": number; "next_cursor": string | null } };
  "GetDeliveryAnswer": { "success": true; "data": Schemas["WholeDelivery"]; "error": null };
  "RedeliverAnswer": { "success": true; "data": Schemas["WholeDelivery"]; "error": null };
  "SignMessageAnswer": { "success": true; "data": { "r": string; "s": string; "v": number; "sig": string } | { "signature": string; "public_key": string } | { "signature": string }; "error": null };
  "SignTypedDataAnswer": { "success": true; "data": { "r": string; "s": string; "v": number; "sig": string } | { "signature": string }; "error": null };
  "SignTransactionAnswer": { "success": true; "data": { "hash": string; "transaction": string; "signature": { "r": string; "s": string; "v": number; "sig": string }; "chain_id": number | bigint; "nonce": number | bigint; "from": string; "to": string | null; "value": string; "data": string | null; "gas_limit": number | bigint; "gas_price": string | null; "max_fee_per_gas": string | null; "max_priority_fee_per_gas": string | null } | { "transaction": string; "signature": string } | { "signedXdr": string; "signature": string } | { "signature": string }; "error": null };
  "QuoteSponsoredTransactionAnswer": { "success": true; "data": { "estimated_fee": string; "conversion_rate": string } | { "fee_in_token": string; "fee_in_token_ui": string; "conversion_rate": string; "max_fee_in_token"?: string; "max_fee_in_token_ui"?: string } | { "conversion_rate"?: string }; "error": null };
  "BuildSponsoredTransactionAnswer": { "success": true; "data": { "transaction": string; "fee_in_spl": string; "fee_in_lamports": string; "fee_token": string; "valid_until_blockheight": number | null } | { "transaction": string; "fee_in_token": string; "fee_in_token_ui": string; "fee_in_stroops": string; "fee_token": string; "valid_until": string; "user_auth_entry"?: string; "max_fee_in_token"?: string; "max_fee_in_token_ui"?: string } | { "conversion_rate"?: string }; "error": null };
  "CallRpcAnswer": { "jsonrpc": "2.0"; "result"?: unknown; "error"?: { "code": number; "message": string; "description": string; "data"?: unknown }; "id"?: string | number } | ({ "jsonrpc": "2.0"; "result"?: unknown; "error"?: { "code": number; "message": string; "description": string; "data"?: unknown }; "id"?: string | number })[];
  "GetCurrentApiKeyAnswer": { "success": true; "data": Schemas["ApiKey"]; "error": null };
  "GetApiKeyPermissionsAnswer": { "success": true; "data": (string)[]; "error": null };
  "ListAuditRecordsAnswer": { "success": true; "data": (Schemas["AuditRecord"])[]; "error": null; "pagination": { "per_page": number; "next_cursor": string | null } };
  "FollowEventsAnswer": string;
  "TransactionEvent": { "id": string; "relayer_id": string; "status": "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired"; "status_reason": string | null; "hash": string | null; "at": string };
  "PluginCallEvent": { "request_id": string; "key_id": string; "at": string; "outcome": string; "duration_ms": number; "logs": ({ "level": "log" | "debug" | "info" | "warn" | "error"; "message": string })[]; "plugin_id": string };
  "ListMetricsAnswer": (string)[];
  "GetMetricAnswer": string;
  "ScrapeMetricsAnswer": string;
  "CallPluginGetAnswer": { "success": true; "data": unknown; "error": null; "metadata"?: { "logs"?: ({ "level": "log" | "debug" | "info" | "warn" | "error" | "result"; "message": string })[]; "traces"?: ({ "method": string; "relayerId": string; "requestId": string; "payload": unknown; "durationMs": number; "outcome": "ok" | "error" | "refused" | "running" })[]; "usage"?: { "cpu_ms": number; "calls": number; "heap_bytes": number; "bytes_in": number; "bytes_out": number; "duration_ms": number } } };
  "ReceiveWebhookAnswer": { "success": true; "data": { "accepted": true; "repeated": boolean }; "error": null };
  "OpenApiAnswer": { "openapi": "3.1.1" };
  "WebhookEvent": { "id": string; "event": "transaction_update" | "relayer_state_update" | "relayer_balance_low" | "sign_transaction" | "sign_and_send_transaction" | "transfer_transaction" | "solana_dex" | "stellar_dex_queued" | "stellar_dex" | "plugin_trigger_paused"; "payload": { "payload_type": string }; "timestamp": string };
  "EvmPolicies": { "min_balance"?: number | bigint | string | null; "gas_limit_estimation"?: boolean | null; "gas_price_cap"?: number | bigint | string | null; "whitelist_receivers"?: (string)[] | null; "eip1559_pricing"?: boolean | null; "private_transactions"?: boolean | null; "private_blocks"?: number | null; "private_then"?: "wait" | "public" | null; "include_revert_data"?: boolean | null };
  "SolanaPolicies": { "allowed_programs"?: (string)[] | null; "allowed_accounts"?: (string)[] | null; "disallowed_accounts"?: (string)[] | null; "max_signatures"?: number | null; "max_tx_data_size"?: number | null; "min_balance"?: number | bigint | null; "allowed_tokens"?: ({ "mint": string; "decimals"?: number | null; "symbol"?: string | null; "max_allowed_fee"?: number | bigint | null; "swap_config"?: { "slippage_percentage"?: number | null; "min_amount"?: number | bigint | null; "max_amount"?: number | bigint | null; "retain_min_amount"?: number | bigint | null } | null })[] | null; "fee_payment_strategy"?: "user" | "relayer" | null; "own_funds"?: "allow" | "deny" | null; "fee_margin_percentage"?: number | null; "max_allowed_fee_lamports"?: number | bigint | null; "swap_config"?: { "strategy"?: "jupiter-swap" | "jupiter-ultra" | "noop" | null; "cron_schedule"?: string | null; "min_balance_threshold"?: number | bigint | null; "jupiter_swap_options"?: { "priority_fee_max_lamports"?: number | bigint | null; "priority_level"?: "medium" | "high" | "veryHigh" | null; "dynamic_compute_unit_limit"?: boolean | null } | null } | null };
  "StellarPolicies": { "fee_payment_strategy": "user" | "relayer" | null; "min_balance"?: number | bigint | null; "max_fee"?: number | null; "timeout_seconds"?: number | bigint | null; "concurrent_transactions"?: boolean | null; "slippage_percentage"?: number | null; "own_funds"?: "allow" | "deny" | null; "fee_margin_percentage"?: number | null; "allowed_tokens"?: ({ "asset": string; "metadata"?: { "kind": "native" | { "classic": { "code": string; "issuer": string } } | { "contract": { "contract_id": string } }; "decimals": number; "canonical_asset_id": string } | null; "max_allowed_fee"?: number | bigint | null; "swap_config"?: { "slippage_percentage"?: number | null; "min_amount"?: number | bigint | null; "max_amount"?: number | bigint | null; "retain_min_amount"?: number | bigint | null } | null })[] | null; "swap_config"?: { "strategies"?: ("order-book" | "soroswap")[] | null; "cron_schedule"?: string | null; "min_balance_threshold"?: number | bigint | null } | null };
  "EvmRelayer": { "id"?: string | null; "name": string; "network": string; "network_type": "evm"; "paused": boolean; "signer_id": string; "notification_id"?: string | null; "custom_rpc_urls"?: ({ "url": string; "weight"?: number })[] | null; "policies"?: Schemas["EvmPolicies"] | null };
  "SolanaRelayer": { "id"?: string | null; "name": string; "network": string; "network_type": "solana"; "paused": boolean; "signer_id": string; "notification_id"?: string | null; "custom_rpc_urls"?: ({ "url": string; "weight"?: number })[] | null; "policies"?: Schemas["SolanaPolicies"] | null };
  "StellarRelayer": { "id"?: string | null; "name": string; "network": string; "network_type": "stellar"; "paused": boolean; "signer_id": string; "notification_id"?: string | null; "custom_rpc_urls"?: ({ "url": string; "weight"?: number })[] | null; "policies": Schemas["StellarPolicies"] };
  "AwsKmsSigner": { "id"?: string | null; "type": "aws_kms"; "config": { "region": string; "key_id": string; "access_key_id"?: string | null; "secret_access_key"?: string | null; "session_token"?: string | null } };
  "GoogleCloudKmsSigner": { "id"?: string | null; "type": "google_cloud_kms"; "config": { "auth_type"?: "service_account" | "workload_identity" | null; "service_account"?: { "project_id": string; "private_key_id": string; "private_key": string; "client_email": string; "client_id"?: string | null; "auth_uri"?: string | null; "token_uri"?: string | null; "auth_provider_x509_cert_url"?: string | null; "client_x509_cert_url"?: string | null; "universe_domain"?: string | null } | null; "key": { "project_id"?: string | null; "location"?: string; "key_ring_id": string; "key_id": string; "key_version"?: number } } };
  "AzureKeyVaultSigner": { "id"?: string | null; "type": "azure_key_vault"; "config": { "auth_type"?: "client_secret" | "managed_identity" | "workload_identity"; "tenant_id"?: string | null | null; "client_id"?: string | null | null; "client_secret"?: string | null | null; "vault_url": string; "key_name": string; "key_version"?: string | null | null } };
  "VaultSigner": { "id"?: string | null; "type": "vault"; "config": { "address": string; "namespace"?: string | null | null; "role_id": string; "secret_id": string; "key_name": string; "mount_point"?: string | null | null } };
  "VaultTransitSigner": { "id"?: string | null; "type": "vault_transit"; "config": { "address": string; "namespace"?: string | null | null; "role_id": string; "secret_id": string; "key_name": string; "mount_point"?: string | null | null; "pubkey": string } };
  "TurnkeySigner": { "id"?: string | null; "type": "turnkey"; "config": { "api_public_key": string; "api_private_key": string; "organization_id": string; "private_key_id": string; "public_key": string; "endpoint"?: string | null } };
  "CdpSigner": { "id"?: string | null; "type": "cdp"; "config": { "api_key_id": string; "api_key_secret": string; "wallet_secret": string; "account_address": string; "endpoint"?: string | null } };
  "PlainSigner": { "id"?: string | null; "type": "plain"; "config": { "key": string } };
  "EvmNetwork": { "name": string; "network_type": "evm"; "from"?: string; "rpc_urls"?: (string | { "url": string; "weight"?: number })[]; "chain_id"?: number | bigint | string; "required_confirmations"?: number; "symbol"?: string; "features"?: (string)[]; "average_blocktime_ms"?: number; "max_transaction_gas"?: number | bigint | string; "is_testnet"?: boolean; "tags"?: (string)[]; "explorer_urls"?: (string)[]; "gas_price_cache"?: { "enabled"?: boolean; "stale_after_ms"?: number; "expire_after_ms"?: number } };
  "SolanaNetwork": { "name": string; "network_type": "solana"; "from"?: string; "rpc_urls"?: (string | { "url": string; "weight"?: number })[]; "average_blocktime_ms"?: number; "is_testnet"?: boolean; "tags"?: (string)[]; "explorer_urls"?: (string)[] };
  "StellarNetwork": { "name": string; "network_type": "stellar"; "from"?: string; "rpc_urls"?: (string | { "url": string; "weight"?: number })[]; "passphrase"?: string; "horizon_url"?: string; "fee_forwarder"?: string; "average_blocktime_ms"?: number; "is_testnet"?: boolean; "tags"?: (string)[]; "explorer_urls"?: (string)[] };
  "EvmNetworkUpdate": { "rpc_urls"?: (string | { "url": string; "weight"?: number })[] | null; "chain_id"?: number | bigint | string | null; "required_confirmations"?: number | null; "symbol"?: string | null; "features"?: (string)[] | null; "average_blocktime_ms"?: number | null; "max_transaction_gas"?: number | bigint | string | null; "is_testnet"?: boolean | null; "tags"?: (string)[] | null; "explorer_urls"?: (string)[] | null; "gas_price_cache"?: { "enabled"?: boolean; "stale_after_ms"?: number; "expire_after_ms"?: number } | null };
  "SolanaNetworkUpdate": { "rpc_urls"?: (string | { "url": string; "weight"?: number })[] | null; "average_blocktime_ms"?: number | null; "is_testnet"?: boolean | null; "tags"?: (string)[] | null; "explorer_urls"?: (string)[] | null };
  "StellarNetworkUpdate": { "rpc_urls"?: (string | { "url": string; "weight"?: number })[] | null; "passphrase"?: string | null; "horizon_url"?: string | null; "fee_forwarder"?: string | null; "average_blocktime_ms"?: number | null; "is_testnet"?: boolean | null; "tags"?: (string)[] | null; "explorer_urls"?: (string)[] | null };
  "EvmTransactionRequest": { "to"?: string | null; "value": number | bigint | string; "data"?: string | null; "input"?: string | null; "gas_limit"?: number | bigint | string | null; "gas_price"?: number | bigint | string | null; "max_fee_per_gas"?: number | bigint | string | null; "max_priority_fee_per_gas"?: number | bigint | string | null; "speed"?: "fastest" | "fast" | "average" | "safeLow" | null; "valid_until"?: string | null; "access_list"?: ({ "address": string; "storage_keys"?: (string)[]; "storageKeys"?: (string)[] })[] | null; "accessList"?: ({ "address": string; "storage_keys"?: (string)[]; "storageKeys"?: (string)[] })[] | null; "authorization_list"?: ({ "chain_id"?: number | bigint | string; "chainId"?: number | bigint | string; "address": string; "nonce": number | bigint | string; "y_parity"?: number | bigint | string; "yParity"?: number | bigint | string; "v"?: number | bigint | string; "r": number | bigint | string; "s": number | bigint | string })[] | null; "authorizationList"?: ({ "chain_id"?: number | bigint | string; "chainId"?: number | bigint | string; "address": string; "nonce": number | bigint | string; "y_parity"?: number | bigint | string; "yParity"?: number | bigint | string; "v"?: number | bigint | string; "r": number | bigint | string; "s": number | bigint | string })[] | null; "abi"?: (string | {})[] | null };
  "SolanaTransactionRequest": { "transaction"?: string | null; "instructions"?: ({ "program_id": string; "accounts": ({ "pubkey": string; "is_signer": boolean; "is_writable": boolean })[]; "data": string })[] | null; "valid_until"?: string | null; "idl"?: { "errors"?: ({ "code": number; "name": string; "msg"?: string })[] } | null };
  "StellarTransactionRequest": { "network": string; "source_account"?: string | null; "operations"?: ({ "type": "payment"; "destination": string; "amount": unknown; "asset": { "type": "native" } | { "type": "credit4"; "code": string; "issuer": string } | { "type": "credit12"; "code": string; "issuer": string } } | { "type": "invoke_contract"; "contract_address": string; "function_name": string; "args": ({} | "void")[]; "auth"?: { "type": "none" } | { "type": "source_account" } | { "type": "addresses"; "signers": (string)[] } | { "type": "xdr"; "entries": (string)[] } | null } | { "type": "create_contract"; "source": { "from": "address"; "address": string } | { "from": "contract"; "contract": string }; "wasm_hash": string; "salt"?: string | null; "constructor_args"?: ({} | "void")[] | null; "auth"?: { "type": "none" } | { "type": "source_account" } | { "type": "addresses"; "signers": (string)[] } | { "type": "xdr"; "entries": (string)[] } | null } | { "type": "upload_wasm"; "wasm": { "type"?: "hex"; "hex": string } | { "type"?: "base64"; "base64": string }; "auth"?: { "type": "none" } | { "type": "source_account" } | { "type": "addresses"; "signers": (string)[] } | { "type": "xdr"; "entries": (string)[] } | null })[] | null; "memo"?: { "type": "none" } | { "type": "text"; "value": string } | { "type": "id"; "value": number | bigint | string } | { "type": "hash"; "value": string } | { "type": "return"; "value": string } | null; "valid_until"?: string | null; "transaction_xdr"?: string | null; "fee_bump"?: boolean | null; "max_fee"?: number | null; "signed_auth_entry"?: string | null };
  "EvmTypedData": { "domain_separator": string; "hash_struct_message": string } | { "domain": Record<string, unknown>; "types": Record<string, ({ "name": string; "type": string })[]>; "primaryType": string; "message": Record<string, unknown> };
  "EvmUnsentTransaction": { "to"?: string | null; "value": number | bigint | string; "data"?: string | null; "input"?: string | null; "gas_limit": number | bigint | string; "gas_price"?: number | bigint | string | null; "max_fee_per_gas"?: number | bigint | string | null; "max_priority_fee_per_gas"?: number | bigint | string | null; "access_list"?: ({ "address": string; "storage_keys"?: (string)[]; "storageKeys"?: (string)[] })[] | null; "accessList"?: ({ "address": string; "storage_keys"?: (string)[]; "storageKeys"?: (string)[] })[] | null; "authorization_list"?: ({ "chain_id"?: number | bigint | string; "chainId"?: number | bigint | string; "address": string; "nonce": number | bigint | string; "y_parity"?: number | bigint | string; "yParity"?: number | bigint | string; "v"?: number | bigint | string; "r": number | bigint | string; "s": number | bigint | string })[] | null; "authorizationList"?: ({ "chain_id"?: number | bigint | string; "chainId"?: number | bigint | string; "address": string; "nonce": number | bigint | string; "y_parity"?: number | bigint | string; "yParity"?: number | bigint | string; "v"?: number | bigint | string; "r": number | bigint | string; "s": number | bigint | string })[] | null; "nonce": number | bigint | string };
  "SolanaUnsentTransaction": { "transaction": string };
  "StellarUnsentTransaction": { "unsigned_xdr": string };
  "SolanaSponsoredTransaction": { "transaction": string; "fee_token": string };
  "StellarSponsoredTransaction": { "transaction_xdr"?: string | null; "operations"?: ({ "type": "payment"; "destination": string; "amount": unknown; "asset": { "type": "native" } | { "type": "credit4"; "code": string; "issuer": string } | { "type": "credit12"; "code": string; "issuer": string } } | { "type": "invoke_contract"; "contract_address": string; "function_name": string; "args": ({} | "void")[]; "auth"?: { "type": "none" } | { "type": "source_account" } | { "type": "addresses"; "signers": (string)[] } | { "type": "xdr"; "entries": (string)[] } | null } | { "type": "create_contract"; "source": { "from": "address"; "address": string } | { "from": "contract"; "contract": string }; "wasm_hash": string; "salt"?: string | null; "constructor_args"?: ({} | "void")[] | null; "auth"?: { "type": "none" } | { "type": "source_account" } | { "type": "addresses"; "signers": (string)[] } | { "type": "xdr"; "entries": (string)[] } | null } | { "type": "upload_wasm"; "wasm": { "type"?: "hex"; "hex": string } | { "type"?: "base64"; "base64": string }; "auth"?: { "type": "none" } | { "type": "source_account" } | { "type": "addresses"; "signers": (string)[] } | { "type": "xdr"; "entries": (string)[] } | null })[] | null; "source_account"?: string | null; "fee_token": string };
  "CreateRelayerBody": Schemas["EvmRelayer"] | Schemas["SolanaRelayer"] | Schemas["StellarRelayer"];
  "UpdateRelayerBody": { "name"?: string | null; "paused"?: boolean; "notification_id"?: string | null; "custom_rpc_urls"?: ({ "url": string; "weight"?: number })[] | null; "policies"?: Schemas["EvmPolicies"] | Schemas["SolanaPolicies"] | Schemas["StellarPolicies"] | null };
  "SendTransactionBody": Schemas["EvmTransactionRequest"] | Schemas["SolanaTransactionRequest"] | Schemas["StellarTransactionRequest"];
  "SendTransactionsBody": { "requests": ({ "relayer_id": string; "idempotency_key"?: string; "transaction": unknown })[] };
  "ReplaceTransactionBody": Schemas["EvmTransactionRequest"] | Schemas["SolanaTransactionRequest"] | Schemas["StellarTransactionRequest"];
  "UpdatePluginBody": { "timeout"?: number | null; "emit_logs"?: boolean | null; "emit_traces"?: boolean | null; "emit_usage"?: boolean | null; "raw_response"?: boolean | null; "allow_get_invocation"?: boolean | null; "forward_logs"?: boolean | null; "config"?: Record<string, unknown> | null };
  "SendPluginCallEventBody": { "value": unknown };
  "FirePluginTriggerBody": { "event"?: unknown };
  "CreateNotificationBody": { "id"?: string | null; "type"?: "webhook" | null; "url": string; "signing_key"?: string | null; "second_signing_key"?: string | null };
  "UpdateNotificationBody": { "url"?: string; "type"?: "webhook"; "signing_key"?: string | null; "second_signing_key"?: string | null };
  "CreateSignerBody": Schemas["AwsKmsSigner"] | Schemas["GoogleCloudKmsSigner"] | Schemas["AzureKeyVaultSigner"] | Schemas["VaultSigner"] | Schemas["VaultTransitSigner"] | Schemas["TurnkeySigner"] | Schemas["CdpSigner"] | Schemas["PlainSigner"];
  "UpdateSignerBody": {};
  "CreateNetworkBody": Schemas["EvmNetwork"] | Schemas["SolanaNetwork"] | Schemas["StellarNetwork"];
  "UpdateNetworkBody": Schemas["EvmNetworkUpdate"] | Schemas["SolanaNetworkUpdate"] | Schemas["StellarNetworkUpdate"];
  "CreateApiKeyBody": { "name": string; "permissions": (string)[]; "allowed_origins"?: (string)[] | null; "expires_at"?: string | null; "rate_limit"?: { "requests_per_second": number; "burst": number } | null };
  "UpdateApiKeyBody": { "name"?: string; "permissions"?: (string)[]; "allowed_origins"?: (string)[]; "expires_at"?: string | null; "rate_limit"?: { "requests_per_second": number; "burst": number } | null };
  "SignMessageBody": { "message": string };
  "SignTypedDataBody": Schemas["EvmTypedData"];
  "SignTransactionBody": Schemas["EvmUnsentTransaction"] | Schemas["SolanaUnsentTransaction"] | Schemas["StellarUnsentTransaction"];
  "QuoteSponsoredTransactionBody": Schemas["SolanaSponsoredTransaction"] | Schemas["StellarSponsoredTransaction"];
  "BuildSponsoredTransactionBody": Schemas["SolanaSponsoredTransaction"] | Schemas["StellarSponsoredTransaction"];
  "CallRpcBody": { "jsonrpc"?: "2.0"; "method": string; "params"?: unknown; "id"?: string | number | null } | ({ "jsonrpc"?: "2.0"; "method": string; "params"?: unknown; "id"?: string | number | null })[];
  "CallPluginBody": unknown;
  "CallPluginRouteBody": unknown;
  "CallPluginWithoutPrefixBody": unknown;
  "CallPluginRouteWithoutPrefixBody": unknown;
  "ReceiveWebhookBody": unknown;
}

/** What each operation takes and answers. */
export interface Operations {
  health: { input: {  }; answer: Schemas["HealthAnswer"] };
  ready: { input: {  }; answer: Schemas["Readiness"] };
  listRelayers: { input: { query?: { "page"?: number; "per_page"?: number | bigint; "search"?: string; "state"?: string } }; answer: Schemas["ListRelayersAnswer"] };
  createRelayer: { input: { body: Schemas["CreateRelayerBody"]; idempotencyKey?: string }; answer: Schemas["CreateRelayerAnswer"] };
  deleteRelayer: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DeleteRelayerAnswer"] };
  getRelayer: { input: { path: { "id": string } }; answer: Schemas["GetRelayerAnswer"] };
  updateRelayer: { input: { path: { "id": string }; body: Schemas["UpdateRelayerBody"]; idempotencyKey?: string }; answer: Schemas["UpdateRelayerAnswer"] };
  getRelayerStatus: { input: { path: { "id": string } }; answer: Schemas["GetRelayerStatusAnswer"] };
  getRelayerBalance: { input: { path: { "id": string } }; answer: Schemas["GetRelayerBalanceAnswer"] };
  sendTransaction: { input: { path: { "id": string }; body: Schemas["SendTransactionBody"]; idempotencyKey?: string }; answer: Schemas["SendTransactionAnswer"] };
  listTransactions: { input: { path: { "id": string }; query?: { "page"?: number; "per_page"?: number | bigint; "status"?: "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired" } }; answer: Schemas["ListTransactionsAnswer"] };
  getTransaction: { input: { path: { "id": string; "transactionId": string } }; answer: Schemas["GetTransactionAnswer"] };
  replaceTransaction: { input: { path: { "id": string; "transactionId": string }; body: Schemas["ReplaceTransactionBody"]; idempotencyKey?: string }; answer: Schemas["ReplaceTransactionAnswer"] };
  cancelTransaction: { input: { path: { "id": string; "transactionId": string }; idempotencyKey?: string }; answer: Schemas["CancelTransactionAnswer"] };
  sendTransactions: { input: { body: Schemas["SendTransactionsBody"]; idempotencyKey?: string }; answer: Schemas["SendTransactionsAnswer"] };
  deletePendingTransactions: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DeletePendingTransactionsAnswer"] };
  getTransactionByNonce: { input: { path: { "id": string; "nonce": string } }; answer: Schemas["GetTransactionByNonceAnswer"] };
  getTransactionByHash: { input: { path: { "id": string; "hash": string } }; answer: Schemas["GetTransactionByHashAnswer"] };
  getTransactionTimeline: { input: { path: { "id": string; "transactionId": string } }; answer: Schemas["GetTransactionTimelineAnswer"] };
  listPlugins: { input: { query?: { "page"?: number; "per_page"?: number | bigint } }; answer: Schemas["ListPluginsAnswer"] };
  getPlugin: { input: { path: { "id": string } }; answer: Schemas["GetPluginAnswer"] };
  updatePlugin: { input: { path: { "id": string }; body: Schemas["UpdatePluginBody"]; idempotencyKey?: string }; answer: Schemas["UpdatePluginAnswer"] };
  enablePlugin: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["EnablePluginAnswer"] };
  disablePlugin: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DisablePluginAnswer"] };
  reloadPlugin: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["ReloadPluginAnswer"] };
  listPluginLogs: { input: { path: { "id": string }; query?: { "page"?: number; "per_page"?: number | bigint } }; answer: Schemas["ListPluginLogsAnswer"] };
  listPluginCalls: { input: { path: { "id": string }; query?: { "page"?: number; "per_page"?: number | bigint; "state"?: "running" | "waiting" | "returned" | "threw" | "canceled" | "expired" } }; answer: Schemas["ListPluginCallsAnswer"] };
  getPluginCall: { input: { path: { "id": string; "call": string } }; answer: Schemas["GetPluginCallAnswer"] };
  getPluginCallRecord: { input: { path: { "id": string; "call": string } }; answer: Schemas["GetPluginCallRecordAnswer"] };
  cancelPluginCall: { input: { path: { "id": string; "call": string }; idempotencyKey?: string }; answer: Schemas["CancelPluginCallAnswer"] };
  retryPluginCall: { input: { path: { "id": string; "call": string }; idempotencyKey?: string }; answer: Schemas["RetryPluginCallAnswer"] };
  sendPluginCallEvent: { input: { path: { "id": string; "call": string; "name": string }; body: Schemas["SendPluginCallEventBody"]; idempotencyKey?: string }; answer: Schemas["SendPluginCallEventAnswer"] };
  firePluginTrigger: { input: { path: { "id": string; "name": string }; body: Schemas["FirePluginTriggerBody"]; idempotencyKey?: string }; answer: Schemas["FirePluginTriggerAnswer"] };
  pausePluginTrigger: { input: { path: { "id": string; "name": string }; idempotencyKey?: string }; answer: Schemas["PausePluginTriggerAnswer"] };
  resumePluginTrigger: { input: { path: { "id": string; "name": string }; idempotencyKey?: string }; answer: Schemas["ResumePluginTriggerAnswer"] };
  listNotifications: { input: { query?: { "page"?: number; "per_page"?: number | bigint } }; answer: Schemas["ListNotificationsAnswer"] };
  createNotification: { input: { body: Schemas["CreateNotificationBody"]; idempotencyKey?: string }; answer: Schemas["CreateNotificationAnswer"] };
  getNotification: { input: { path: { "id": string } }; answer: Schemas["GetNotificationAnswer"] };
  updateNotification: { input: { path: { "id": string }; body: Schemas["UpdateNotificationBody"]; idempotencyKey?: string }; answer: Schemas["UpdateNotificationAnswer"] };
  deleteNotification: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DeleteNotificationAnswer"] };
  listSigners: { input: { query?: { "page"?: number; "per_page"?: number | bigint } }; answer: Schemas["ListSignersAnswer"] };
  createSigner: { input: { body: Schemas["CreateSignerBody"]; idempotencyKey?: string }; answer: Schemas["CreateSignerAnswer"] };
  getSigner: { input: { path: { "id": string } }; answer: Schemas["GetSignerAnswer"] };
  updateSigner: { input: { path: { "id": string }; body: Schemas["UpdateSignerBody"]; idempotencyKey?: string }; answer: Schemas["UpdateSignerAnswer"] };
  deleteSigner: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DeleteSignerAnswer"] };
  listNetworks: { input: { query?: { "page"?: number; "per_page"?: number | bigint } }; answer: Schemas["ListNetworksAnswer"] };
  createNetwork: { input: { body: Schemas["CreateNetworkBody"]; idempotencyKey?: string }; answer: Schemas["CreateNetworkAnswer"] };
  getNetwork: { input: { path: { "id": string } }; answer: Schemas["GetNetworkAnswer"] };
  updateNetwork: { input: { path: { "id": string }; body: Schemas["UpdateNetworkBody"]; idempotencyKey?: string }; answer: Schemas["UpdateNetworkAnswer"] };
  deleteNetwork: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DeleteNetworkAnswer"] };
  listApiKeys: { input: { query?: { "page"?: number; "per_page"?: number | bigint } }; answer: Schemas["ListApiKeysAnswer"] };
  createApiKey: { input: { body: Schemas["CreateApiKeyBody"]; idempotencyKey?: string }; answer: Schemas["CreateApiKeyAnswer"] };
  getApiKey: { input: { path: { "id": string } }; answer: Schemas["GetApiKeyAnswer"] };
  updateApiKey: { input: { path: { "id": string }; body: Schemas["UpdateApiKeyBody"]; idempotencyKey?: string }; answer: Schemas["UpdateApiKeyAnswer"] };
  deleteApiKey: { input: { path: { "id": string }; idempotencyKey?: string }; answer: Schemas["DeleteApiKeyAnswer"] };
  listDeliveries: { input: { path: { "id": string }; query?: { "cursor"?: string; "per_page"?: number | bigint; "state"?: "waiting" | "delivered" | "dead" | "dropped"; "transaction_id"?: string } }; answer: Schemas["ListDeliveriesAnswer"] };
  getDelivery: { input: { path: { "id": string; "deliveryId": string } }; answer: Schemas["GetDeliveryAnswer"] };
  redeliver: { input: { path: { "id": string; "deliveryId": string }; idempotencyKey?: string }; answer: Schemas["RedeliverAnswer"] };
  signMessage: { input: { path: { "id": string }; body: Schemas["SignMessageBody"]; idempotencyKey?: string }; answer: Schemas["SignMessageAnswer"] };
  signTypedData: { input: { path: { "id": string }; body: Schemas["SignTypedDataBody"]; idempotencyKey?: string }; answer: Schemas["SignTypedDataAnswer"] };
  signTransaction: { input: { path: { "id": string }; body: Schemas["SignTransactionBody"]; idempotencyKey?: string }; answer: Schemas["SignTransactionAnswer"] };
  quoteSponsoredTransaction: { input: { path: { "id": string }; body: Schemas["QuoteSponsoredTransactionBody"]; idempotencyKey?: string }; answer: Schemas["QuoteSponsoredTransactionAnswer"] };
  buildSponsoredTransaction: { input: { path: { "id": string }; body: Schemas["BuildSponsoredTransactionBody"]; idempotencyKey?: string }; answer: Schemas["BuildSponsoredTransactionAnswer"] };
  callRpc: { input: { path: { "id": string }; body: Schemas["CallRpcBody"]; idempotencyKey?: string }; answer: Schemas["CallRpcAnswer"] };
  getCurrentApiKey: { input: {  }; answer: Schemas["GetCurrentApiKeyAnswer"] };
  getApiKeyPermissions: { input: { path: { "id": string } }; answer: Schemas["GetApiKeyPermissionsAnswer"] };
  listAuditRecords: { input: { query?: { "cursor"?: string; "per_page"?: number | bigint; "resource"?: "relayer" | "notification" | "delivery" | "transaction" | "network" | "signer" | "plugin" | "api_key" | "signature"; "resource_id"?: string; "key_id"?: string } }; answer: Schemas["ListAuditRecordsAnswer"] };
  followEvents: { input: { query?: { "relayer_id"?: string; "plugin_id"?: string } }; answer: Schemas["FollowEventsAnswer"] };
  listMetrics: { input: {  }; answer: Schemas["ListMetricsAnswer"] };
  getMetric: { input: { path: { "name": string } }; answer: Schemas["GetMetricAnswer"] };
  scrapeMetrics: { input: {  }; answer: Schemas["ScrapeMetricsAnswer"] };
  callPluginGet: { input: { path: { "id": string }; query?: { "route"?: string; "params"?: string }; idempotencyKey?: string }; answer: Schemas["CallPluginGetAnswer"] };
  callPlugin: { input: { path: { "id": string }; query?: { "route"?: string; "params"?: string }; body: Schemas["CallPluginBody"]; idempotencyKey?: string }; answer: Schemas["CallPluginGetAnswer"] };
  callPluginRouteGet: { input: { path: { "id": string; "route": string }; query?: { "route"?: string; "params"?: string }; idempotencyKey?: string }; answer: Schemas["CallPluginGetAnswer"] };
  callPluginRoute: { input: { path: { "id": string; "route": string }; query?: { "route"?: string; "params"?: string }; body: Schemas["CallPluginRouteBody"]; idempotencyKey?: string }; answer: Schemas["CallPluginGetAnswer"] };
  receiveWebhook: { input: { path: { "id": string; "name": string }; body: Schemas["ReceiveWebhookBody"] }; answer: Schemas["ReceiveWebhookAnswer"] };
  openApi: { input: {  }; answer: Schemas["OpenApiAnswer"] };
}

/** Where each operation is, and what it takes of a key; without a permission no more than the key, if that. */
export const ROUTES: Readonly<
  Record<keyof Operations, readonly [method: string, path: string, permission?: string]>
> = {
  health: ['GET', '/api/v1/health'],
  ready: ['GET', '/api/v1/ready'],
  listRelayers: ['GET', '/api/v1/relayers', 'relayers:read'],
  createRelayer: ['POST', '/api/v1/relayers', 'relayers:write'],
  deleteRelayer: ['DELETE', '/api/v1/relayers/{id}', 'relayers:{id}:write'],
  getRelayer: ['GET', '/api/v1/relayers/{id}', 'relayers:{id}:read'],
  updateRelayer: ['PATCH', '/api/v1/relayers/{id}', 'relayers:{id}:write'],
  getRelayerStatus: ['GET', '/api/v1/relayers/{id}/status', 'relayers:{id}:read'],
  getRelayerBalance: ['GET', '/api/v1/relayers/{id}/balance', 'relayers:{id}:read'],
  sendTransaction: ['POST', '/api/v1/relayers/{id}/transactions', 'relayers:{id}:send'],
  listTransactions: ['GET', '/api/v1/relayers/{id}/transactions', 'relayers:{id}:read'],
  getTransaction: ['GET', '/api/v1/relayers/{id}/transactions/{transactionId}', 'relayers:{id}:read'],
  replaceTransaction: ['PUT', '/api/v1/relayers/{id}/transactions/{transactionId}', 'relayers:{id}:send'],
  cancelTransaction: ['DELETE', '/api/v1/relayers/{id}/transactions/{transactionId}', 'relayers:{id}:send'],
  sendTransactions: ['POST', '/api/v1/transactions/batch', 'relayers:send'],
  deletePendingTransactions: ['DELETE', '/api/v1/relayers/{id}/transactions/pending', 'relayers:{id}:send'],
  getTransactionByNonce: ['GET', '/api/v1/relayers/{id}/transactions/by-nonce/{nonce}', 'relayers:{id}:read'],
  getTransactionByHash: ['GET', '/api/v1/relayers/{id}/transactions/by-hash/{hash}', 'relayers:{id}:read'],
  getTransactionTimeline: ['GET', '/api/v1/relayers/{id}/transactions/{transactionId}/timeline', 'relayers:{id}:read'],
  listPlugins: ['GET', '/api/v1/plugins', 'plugins:read'],
  getPlugin: ['GET', '/api/v1/plugins/{id}', 'plugins:{id}:read'],
  updatePlugin: ['PATCH', '/api/v1/plugins/{id}', 'plugins:{id}:write'],
  enablePlugin: ['POST', '/api/v1/plugins/{id}/enable', 'plugins:{id}:write'],
  disablePlugin: ['POST', '/api/v1/plugins/{id}/disable', 'plugins:{id}:write'],
  reloadPlugin: ['POST', '/api/v1/plugins/{id}/reload', 'plugins:{id}:write'],
  listPluginLogs: ['GET', '/api/v1/plugins/{id}/logs', 'plugins:{id}:write'],
  listPluginCalls: ['GET', '/api/v1/plugins/{id}/calls', 'plugins:{id}:calls'],
  getPluginCall: ['GET', '/api/v1/plugins/{id}/calls/{call}', 'plugins:{id}:calls'],
  getPluginCallRecord: ['GET', '/api/v1/plugins/{id}/calls/{call}/record', 'plugins:{id}:calls'],
  cancelPluginCall: ['POST', '/api/v1/plugins/{id}/calls/{call}/cancel', 'plugins:{id}:calls'],
  retryPluginCall: ['POST', '/api/v1/plugins/{id}/calls/{call}/retry', 'plugins:{id}:calls'],
  sendPluginCallEvent: ['POST', '/api/v1/plugins/{id}/calls/{call}/events/{name}', 'plugins:{id}:calls'],
  firePluginTrigger: ['POST', '/api/v1/plugins/{id}/triggers/{name}/fire', 'plugins:{id}:write'],
  pausePluginTrigger: ['POST', '/api/v1/plugins/{id}/triggers/{name}/pause', 'plugins:{id}:write'],
  resumePluginTrigger: ['POST', '/api/v1/plugins/{id}/triggers/{name}/resume', 'plugins:{id}:write'],
  listNotifications: ['GET', '/api/v1/notifications', 'notifications:read'],
  createNotification: ['POST', '/api/v1/notifications', 'notifications:write'],
  getNotification: ['GET', '/api/v1/notifications/{id}', 'notifications:read'],
  updateNotification: ['PATCH', '/api/v1/notifications/{id}', 'notifications:write'],
  deleteNotification: ['DELETE', '/api/v1/notifications/{id}', 'notifications:write'],
  listSigners: ['GET', '/api/v1/signers', 'signers:read'],
  createSigner: ['POST', '/api/v1/signers', 'signers:write'],
  getSigner: ['GET', '/api/v1/signers/{id}', 'signers:read'],
  updateSigner: ['PATCH', '/api/v1/signers/{id}', 'signers:write'],
  deleteSigner: ['DELETE', '/api/v1/signers/{id}', 'signers:write'],
  listNetworks: ['GET', '/api/v1/networks', 'networks:read'],
  createNetwork: ['POST', '/api/v1/networks', 'networks:write'],
  getNetwork: ['GET', '/api/v1/networks/{id}', 'networks:read'],
  updateNetwork: ['PATCH', '/api/v1/networks/{id}', 'networks:write'],
  deleteNetwork: ['DELETE', '/api/v1/networks/{id}', 'networks:write'],
  listApiKeys: ['GET', '/api/v1/api-keys', 'api-keys:read'],
  createApiKey: ['POST', '/api/v1/api-keys', 'api-keys:write'],
  getApiKey: ['GET', '/api/v1/api-keys/{id}', 'api-keys:read'],
  updateApiKey: ['PATCH', '/api/v1/api-keys/{id}', 'api-keys:write'],
  deleteApiKey: ['DELETE', '/api/v1/api-keys/{id}', 'api-keys:write'],
  listDeliveries: ['GET', '/api/v1/notifications/{id}/deliveries', 'notifications:read'],
  getDelivery: ['GET', '/api/v1/notifications/{id}/deliveries/{deliveryId}', 'notifications:read'],
  redeliver: ['POST', '/api/v1/notifications/{id}/deliveries/{deliveryId}/redeliver', 'notifications:write'],
  signMessage: ['POST', '/api/v1/relayers/{id}/sign', 'relayers:{id}:sign'],
  signTypedData: ['POST', '/api/v1/relayers/{id}/sign-typed-data', 'relayers:{id}:sign'],
  signTransaction: ['POST', '/api/v1/relayers/{id}/sign-transaction', 'relayers:{id}:sign'],
  quoteSponsoredTransaction: ['POST', '/api/v1/relayers/{id}/transactions/sponsored/quote', 'relayers:{id}:sign'],
  buildSponsoredTransaction: ['POST', '/api/v1/relayers/{id}/transactions/sponsored/build', 'relayers:{id}:sign'],
  callRpc: ['POST', '/api/v1/relayers/{id}/rpc', 'relayers:{id}:rpc'],
  getCurrentApiKey: ['GET', '/api/v1/api-keys/current'],
  getApiKeyPermissions: ['GET', '/api/v1/api-keys/{id}/permissions', 'api-keys:read'],
  listAuditRecords: ['GET', '/api/v1/audit', 'audit:read'],
  followEvents: ['GET', '/api/v1/events', 'relayers:read'],
  listMetrics: ['GET', '/api/v1/metrics', 'metrics:read'],
  getMetric: ['GET', '/api/v1/metrics/{name}', 'metrics:read'],
  scrapeMetrics: ['GET', '/api/v1/debug/metrics/scrape', 'metrics:read'],
  callPluginGet: ['GET', '/api/v1/plugins/{id}/call', 'plugins:{id}:call'],
  callPlugin: ['POST', '/api/v1/plugins/{id}/call', 'plugins:{id}:call'],
  callPluginRouteGet: ['GET', '/api/v1/plugins/{id}/call/{route}', 'plugins:{id}:call'],
  callPluginRoute: ['POST', '/api/v1/plugins/{id}/call/{route}', 'plugins:{id}:call'],
  receiveWebhook: ['POST', '/api/v1/hooks/{id}/{name}'],
  openApi: ['GET', '/api-docs/openapi.json'],
};
