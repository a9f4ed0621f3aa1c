CREATE TABLE ad_account (
	shop_key BIGINT NOT NULL,
	provider TEXT COLLATE "C" NOT NULL,
	account_id TEXT COLLATE "C" NOT NULL,
	status TEXT COLLATE "C" DEFAULT '' NOT NULL,
	synced_at BIGINT DEFAULT '0' NOT NULL,
	message TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_ad_account PRIMARY KEY (shop_key, provider, account_id)
);
CREATE TABLE ad_account_version (
	shop_key BIGINT NOT NULL,
	provider TEXT COLLATE "C" NOT NULL,
	account_id TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	written_at BIGINT DEFAULT '0' NOT NULL,
	status TEXT COLLATE "C" DEFAULT '' NOT NULL,
	synced_at BIGINT DEFAULT '0' NOT NULL,
	message TEXT COLLATE "C" DEFAULT '' NOT NULL,
	repeated_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_ad_account_version PRIMARY KEY (shop_key, provider, account_id, import_id)
);
CREATE INDEX ix_ad_account_version_import_id ON ad_account_version (import_id);
CREATE TABLE ad_spend (
	shop_key BIGINT NOT NULL,
	provider TEXT COLLATE "C" NOT NULL,
	account_id TEXT COLLATE "C" NOT NULL,
	campaign_id TEXT COLLATE "C" NOT NULL,
	day BIGINT NOT NULL,
	segment TEXT COLLATE "C" NOT NULL,
	campaign_name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	currency TEXT COLLATE "C" DEFAULT '' NOT NULL,
	spend TEXT COLLATE "C" DEFAULT '' NOT NULL,
	impressions BIGINT DEFAULT '0' NOT NULL,
	clicks BIGINT DEFAULT '0' NOT NULL,
	reported_conversions TEXT COLLATE "C" DEFAULT '' NOT NULL,
	reported_value TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_ad_spend PRIMARY KEY (shop_key, provider, account_id, campaign_id, day, segment)
);
CREATE INDEX ix_ad_spend_shop_key_provider_campaign_id_currency_day ON ad_spend (shop_key, provider, campaign_id, currency, day);
CREATE TABLE ad_spend_version (
	shop_key BIGINT NOT NULL,
	provider TEXT COLLATE "C" NOT NULL,
	account_id TEXT COLLATE "C" NOT NULL,
	campaign_id TEXT COLLATE "C" NOT NULL,
	day BIGINT NOT NULL,
	segment TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	written_at BIGINT DEFAULT '0' NOT NULL,
	campaign_name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	currency TEXT COLLATE "C" DEFAULT '' NOT NULL,
	spend TEXT COLLATE "C" DEFAULT '' NOT NULL,
	impressions BIGINT DEFAULT '0' NOT NULL,
	clicks BIGINT DEFAULT '0' NOT NULL,
	reported_conversions TEXT COLLATE "C" DEFAULT '' NOT NULL,
	reported_value TEXT COLLATE "C" DEFAULT '' NOT NULL,
	repeated_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_ad_spend_version PRIMARY KEY (shop_key, provider, account_id, campaign_id, day, segment, import_id)
);
CREATE INDEX ix_ad_spend_version_import_id ON ad_spend_version (import_id);
CREATE TABLE api_key (
	credential_id TEXT COLLATE "C" NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	key_hash TEXT COLLATE "C" DEFAULT '' NOT NULL,
	hint TEXT COLLATE "C" DEFAULT '' NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	scopes TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	expires_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	revoked_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	last_used_at BIGINT DEFAULT '0' NOT NULL,
	replaced_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_api_key PRIMARY KEY (credential_id),
	CONSTRAINT uq_api_key_key_hash UNIQUE (key_hash)
);
CREATE INDEX ix_api_key_shop_key ON api_key (shop_key);
CREATE TABLE audit_event (
	audit_id BIGSERIAL NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	at BIGINT DEFAULT '0' NOT NULL,
	actor TEXT COLLATE "C" DEFAULT '' NOT NULL,
	source_ip TEXT COLLATE "C" DEFAULT '' NOT NULL,
	action TEXT COLLATE "C" DEFAULT '' NOT NULL,
	detail TEXT COLLATE "C" DEFAULT '' NOT NULL,
	times BIGINT DEFAULT '1' NOT NULL,
	CONSTRAINT pk_audit_event PRIMARY KEY (audit_id)
);
CREATE INDEX ix_audit_event_shop_key_action_at ON audit_event (shop_key, action, at);
CREATE INDEX ix_audit_event_shop_key_audit_id ON audit_event (shop_key, audit_id);
CREATE TABLE code_usage (
	edition BIGINT NOT NULL,
	code BIGINT NOT NULL,
	discount_id TEXT COLLATE "C" NOT NULL,
	form BIGINT NOT NULL,
	mentions BIGINT DEFAULT '0' NOT NULL,
	submissions BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_code_usage PRIMARY KEY (edition, code, discount_id, form)
);
CREATE TABLE collector (
	host TEXT COLLATE "C" NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_collector PRIMARY KEY (host)
);
CREATE TABLE daily_all_forms (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_all_forms PRIMARY KEY (edition, day)
);
CREATE TABLE daily_attribution (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	type BIGINT NOT NULL,
	orders BIGINT DEFAULT '0' NOT NULL,
	gross BIGINT DEFAULT '0' NOT NULL,
	refunded BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_daily_attribution PRIMARY KEY (edition, day, type)
);
CREATE TABLE daily_cross_field (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	field_a BIGINT NOT NULL,
	field_b BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_cross_field PRIMARY KEY (edition, form, field_a, field_b, day)
);
CREATE TABLE daily_device (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	device BIGINT NOT NULL,
	views BIGINT DEFAULT '0' NOT NULL,
	starts BIGINT DEFAULT '0' NOT NULL,
	subscriptions BIGINT DEFAULT '0' NOT NULL,
	completions BIGINT DEFAULT '0' NOT NULL,
	submissions BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_daily_device PRIMARY KEY (edition, form, day, device)
);
CREATE TABLE daily_discount (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_discount PRIMARY KEY (edition, day)
);
CREATE TABLE daily_form_orders (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	submitted BIGINT NOT NULL,
	orders BIGINT DEFAULT '0' NOT NULL,
	gross BIGINT DEFAULT '0' NOT NULL,
	refunded BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_daily_form_orders PRIMARY KEY (edition, form, day, submitted)
);
CREATE TABLE daily_funnel (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	views BIGINT DEFAULT '0' NOT NULL,
	starts BIGINT DEFAULT '0' NOT NULL,
	subscriptions BIGINT DEFAULT '0' NOT NULL,
	completions BIGINT DEFAULT '0' NOT NULL,
	submissions BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_daily_funnel PRIMARY KEY (edition, form, day)
);
CREATE TABLE daily_ltv_form (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_ltv_form PRIMARY KEY (edition, day)
);
CREATE TABLE daily_ltv_segment (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_ltv_segment PRIMARY KEY (edition, day)
);
CREATE TABLE daily_outcome (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_outcome PRIMARY KEY (edition, form, day)
);
CREATE TABLE daily_response (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_response PRIMARY KEY (edition, form, day)
);
CREATE TABLE daily_response_outcome (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_response_outcome PRIMARY KEY (edition, form, day)
);
CREATE TABLE daily_step (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	step BIGINT NOT NULL,
	views BIGINT DEFAULT '0' NOT NULL,
	completions BIGINT DEFAULT '0' NOT NULL,
	dropoffs BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_daily_step PRIMARY KEY (edition, form, day, step)
);
CREATE TABLE daily_time_to_complete (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_time_to_complete PRIMARY KEY (edition, form, day)
);
CREATE TABLE daily_utm_order (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_utm_order PRIMARY KEY (edition, day)
);
CREATE TABLE daily_utm_outcome (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_utm_outcome PRIMARY KEY (edition, day)
);
CREATE TABLE daily_utm_submission (
	edition BIGINT NOT NULL,
	day BIGINT NOT NULL,
	packed_dims BYTEA NOT NULL,
	CONSTRAINT pk_daily_utm_submission PRIMARY KEY (edition, day)
);
CREATE TABLE daily_visitor (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	day BIGINT NOT NULL,
	kind BIGINT NOT NULL,
	previous BIGINT NOT NULL,
	delay BIGINT NOT NULL,
	visitors BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_daily_visitor PRIMARY KEY (edition, form, day, kind, previous, delay)
);
CREATE TABLE deleted_shop (
	shop_key BIGINT NOT NULL,
	shop_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	deleted_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_deleted_shop PRIMARY KEY (shop_key)
);
CREATE TABLE difference (
	edition BIGINT NOT NULL,
	table_name TEXT COLLATE "C" NOT NULL,
	day BIGINT NOT NULL,
	rows BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_difference PRIMARY KEY (edition, table_name, day)
);
CREATE TABLE dim_discount_code (
	edition BIGINT NOT NULL,
	code BIGINT NOT NULL,
	discount BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_dim_discount_code PRIMARY KEY (edition, code)
);
CREATE INDEX ix_dim_discount_code_edition_discount_code ON dim_discount_code (edition, discount, code);
CREATE TABLE dim_step (
	edition BIGINT NOT NULL,
	form BIGINT NOT NULL,
	step BIGINT NOT NULL,
	index_at BIGINT DEFAULT '0' NOT NULL,
	index_event TEXT COLLATE "C" DEFAULT '' NOT NULL,
	step_index BIGINT DEFAULT '0' NOT NULL,
	name_at BIGINT DEFAULT '0' NOT NULL,
	name_event TEXT COLLATE "C" DEFAULT '' NOT NULL,
	step_name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_dim_step PRIMARY KEY (edition, form, step)
);
CREATE TABLE dim_text (
	edition BIGINT NOT NULL,
	id BIGINT NOT NULL,
	text TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_dim_text PRIMARY KEY (edition, id)
);
CREATE TABLE dim_utm (
	edition BIGINT NOT NULL,
	utm BIGINT NOT NULL,
	utm_source TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_medium TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_campaign TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_term TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_content TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_dim_utm PRIMARY KEY (edition, utm)
);
CREATE TABLE dropped_file (
	shop_key BIGINT NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	stored TEXT COLLATE "C" DEFAULT '' NOT NULL,
	bytes BIGINT DEFAULT '0' NOT NULL,
	dropped_at BIGINT DEFAULT '0' NOT NULL,
	state TEXT COLLATE "C" DEFAULT '' NOT NULL,
	since BIGINT DEFAULT '0' NOT NULL,
	told TEXT COLLATE "C" DEFAULT '' NOT NULL,
	tries BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_dropped_file PRIMARY KEY (shop_key)
);
CREATE TABLE edition (
	edition BIGSERIAL NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	timezone TEXT COLLATE "C" DEFAULT '' NOT NULL,
	form_rules TEXT COLLATE "C" DEFAULT '' NOT NULL,
	window_days BIGINT DEFAULT '0' NOT NULL,
	logic_version BIGINT DEFAULT '0' NOT NULL,
	state TEXT COLLATE "C" DEFAULT '' NOT NULL,
	lease_owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
	lease_until BIGINT DEFAULT '0' NOT NULL,
	next_session BIGINT DEFAULT '1' NOT NULL,
	rolled_up_at BIGINT DEFAULT '0' NOT NULL,
	verified_at BIGINT DEFAULT '0' NOT NULL,
	differing_rows BIGINT DEFAULT '0' NOT NULL,
	applied_through BIGINT DEFAULT '0' NOT NULL,
	deaths BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_edition PRIMARY KEY (edition)
);
CREATE INDEX ix_edition_shop_key ON edition (shop_key);
CREATE UNIQUE INDEX uq_edition_building ON edition (shop_key) WHERE state = 'building';
CREATE TABLE edition_batch (
	edition BIGINT NOT NULL,
	batch_id BIGINT NOT NULL,
	attempts BIGINT DEFAULT '0' NOT NULL,
	failed_at BIGINT DEFAULT '0' NOT NULL,
	retry_at BIGINT DEFAULT '0' NOT NULL,
	error TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_edition_batch PRIMARY KEY (edition, batch_id)
);
CREATE INDEX ix_edition_batch_failed ON edition_batch (edition, batch_id) WHERE attempts > 0;
CREATE TABLE exchange_rate (
	base TEXT COLLATE "C" NOT NULL,
	quote TEXT COLLATE "C" NOT NULL,
	day BIGINT NOT NULL,
	rate TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_exchange_rate PRIMARY KEY (base, quote, day)
);
CREATE TABLE exchange_rate_version (
	base TEXT COLLATE "C" NOT NULL,
	quote TEXT COLLATE "C" NOT NULL,
	day BIGINT NOT NULL,
	import_id BIGINT NOT NULL,
	written_at BIGINT DEFAULT '0' NOT NULL,
	rate TEXT COLLATE "C" DEFAULT '' NOT NULL,
	repeated_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_exchange_rate_version PRIMARY KEY (base, quote, day, import_id)
);
CREATE INDEX ix_exchange_rate_version_import_id ON exchange_rate_version (import_id);
CREATE TABLE fact_answer (
	edition BIGINT NOT NULL,
	session BIGINT NOT NULL,
	field BIGINT NOT NULL,
	value TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_fact_answer PRIMARY KEY (edition, session, field)
);
CREATE TABLE fact_code_issued (
	edition BIGINT NOT NULL,
	session BIGINT NOT NULL,
	code BIGINT NOT NULL,
	discount_id TEXT COLLATE "C" NOT NULL,
	submitted_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	discount BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_fact_code_issued PRIMARY KEY (edition, session, code, discount_id)
);
CREATE INDEX ix_fact_code_issued_edition_code_submitted_at ON fact_code_issued (edition, code, submitted_at);
CREATE TABLE fact_email (
	edition BIGINT NOT NULL,
	email BIGINT NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	customer_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	customer BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_fact_email PRIMARY KEY (edition, email)
);
CREATE TABLE fact_form_session (
	edition BIGINT NOT NULL,
	session BIGINT NOT NULL,
	session_hash BIGINT DEFAULT '0' NOT NULL,
	form BIGINT DEFAULT '0' NOT NULL,
	form_session_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	first_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	visitor BIGINT DEFAULT '0' NOT NULL,
	viewed_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	started_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	subscribed_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	completed_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	device BIGINT DEFAULT '0' NOT NULL,
	utm BIGINT DEFAULT '0' NOT NULL,
	customer_seen BIGINT DEFAULT '0' NOT NULL,
	email BIGINT DEFAULT '0' NOT NULL,
	submitted_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	customer BIGINT DEFAULT '0' NOT NULL,
	is_first_session BIGINT DEFAULT '0' NOT NULL,
	orders BIGINT DEFAULT '0' NOT NULL,
	gross BIGINT DEFAULT '0' NOT NULL,
	refunded BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_fact_form_session PRIMARY KEY (edition, session)
);
CREATE INDEX ix_fact_form_session_edition_customer_submitted_at ON fact_form_session (edition, customer, submitted_at) WHERE customer <> 0;
CREATE INDEX ix_fact_form_session_edition_email ON fact_form_session (edition, email) WHERE email <> 0;
CREATE INDEX ix_fact_form_session_edition_form ON fact_form_session (edition, form) WHERE viewed_at = 4611686018427387904 AND started_at = 4611686018427387904 AND subscribed_at = 4611686018427387904 AND completed_at = 4611686018427387904;
CREATE INDEX ix_fact_form_session_edition_session_hash ON fact_form_session (edition, session_hash);
CREATE INDEX ix_fact_form_session_edition_visitor_form ON fact_form_session (edition, visitor, form) WHERE orders <> 0;
CREATE INDEX ix_fact_form_session_edition_visitor_form_submitted_at ON fact_form_session (edition, visitor, form, submitted_at) WHERE submitted_at <> 4611686018427387904;
CREATE INDEX ix_fact_form_session_edition_visitor_submitted_at ON fact_form_session (edition, visitor, submitted_at) WHERE submitted_at <> 4611686018427387904;
CREATE INDEX ix_fact_form_session_views ON fact_form_session (edition, visitor, form, is_first_session, viewed_at);
CREATE TABLE fact_order (
	edition BIGINT NOT NULL,
	"order" BIGINT NOT NULL,
	order_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	gross BIGINT DEFAULT '0' NOT NULL,
	refunded BIGINT DEFAULT '0' NOT NULL,
	customer_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	customer_seen BIGINT DEFAULT '0' NOT NULL,
	email BIGINT DEFAULT '0' NOT NULL,
	visitor BIGINT DEFAULT '0' NOT NULL,
	order_utm BIGINT DEFAULT '0' NOT NULL,
	customer BIGINT DEFAULT '0' NOT NULL,
	type BIGINT DEFAULT '0' NOT NULL,
	session BIGINT DEFAULT '0' NOT NULL,
	form BIGINT DEFAULT '0' NOT NULL,
	utm BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_fact_order PRIMARY KEY (edition, "order")
);
CREATE INDEX ix_fact_order_edition_created_at ON fact_order (edition, created_at);
CREATE INDEX ix_fact_order_edition_customer_created_at ON fact_order (edition, customer, created_at) WHERE customer <> 0;
CREATE INDEX ix_fact_order_edition_email ON fact_order (edition, email) WHERE email <> 0;
CREATE INDEX ix_fact_order_edition_session ON fact_order (edition, session) WHERE session <> 0;
CREATE INDEX ix_fact_order_edition_visitor_created_at ON fact_order (edition, visitor, created_at) WHERE visitor <> 0;
CREATE TABLE fact_order_code (
	edition BIGINT NOT NULL,
	"order" BIGINT NOT NULL,
	code BIGINT NOT NULL,
	discount_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	discounted BIGINT DEFAULT '0' NOT NULL,
	discount BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_fact_order_code PRIMARY KEY (edition, "order", code)
);
CREATE INDEX ix_fact_order_code_edition_code_created_at ON fact_order_code (edition, code, created_at);
CREATE TABLE fact_step (
	edition BIGINT NOT NULL,
	session BIGINT NOT NULL,
	step BIGINT NOT NULL,
	step_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	viewed_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	step_index BIGINT DEFAULT '0' NOT NULL,
	completed_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	CONSTRAINT pk_fact_step PRIMARY KEY (edition, session, step)
);
CREATE TABLE forgotten (
	shop_key BIGINT NOT NULL,
	identifier_hash TEXT COLLATE "C" NOT NULL,
	asked_at BIGINT DEFAULT '0' NOT NULL,
	removed_at BIGINT DEFAULT '0' NOT NULL,
	events BIGINT DEFAULT '0' NOT NULL,
	orders BIGINT DEFAULT '0' NOT NULL,
	keeps_orders SMALLINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_forgotten PRIMARY KEY (shop_key, identifier_hash)
);
CREATE TABLE form (
	shop_key BIGINT NOT NULL,
	form_id TEXT COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	status TEXT COLLATE "C" DEFAULT '' NOT NULL,
	schema TEXT COLLATE "C" DEFAULT '' NOT NULL,
	draft_schema TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	updated_at BIGINT DEFAULT '0' NOT NULL,
	source TEXT COLLATE "C" DEFAULT '' NOT NULL,
	source_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	first_event_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	named_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	CONSTRAINT pk_form PRIMARY KEY (shop_key, form_id)
);
CREATE INDEX ix_form_shop_key_created_at_form_id ON form (shop_key, created_at, form_id);
CREATE TABLE form_creation (
	credential_id TEXT COLLATE "C" NOT NULL,
	idempotency_key TEXT COLLATE "C" NOT NULL,
	content TEXT COLLATE "C" DEFAULT '' NOT NULL,
	form_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_form_creation PRIMARY KEY (credential_id, idempotency_key)
);
CREATE INDEX ix_form_creation_created_at ON form_creation (created_at);
CREATE TABLE form_seen (
	shop_key BIGINT NOT NULL,
	form_id TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	source TEXT COLLATE "C" DEFAULT '' NOT NULL,
	source_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	first_event_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	named_at BIGINT DEFAULT '0' NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_form_seen PRIMARY KEY (shop_key, form_id, import_id)
);
CREATE INDEX ix_form_seen_import_id ON form_seen (import_id);
CREATE TABLE form_sighting (
	shop_key BIGINT NOT NULL,
	form_id TEXT COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	path TEXT COLLATE "C" DEFAULT '' NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_form_sighting PRIMARY KEY (shop_key, form_id)
);
CREATE TABLE form_version (
	shop_key BIGINT NOT NULL,
	form_id TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	written_at BIGINT DEFAULT '0' NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	status TEXT COLLATE "C" DEFAULT '' NOT NULL,
	schema TEXT COLLATE "C" DEFAULT '' NOT NULL,
	draft_schema TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	updated_at BIGINT DEFAULT '0' NOT NULL,
	named_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_form_version PRIMARY KEY (shop_key, form_id, import_id)
);
CREATE INDEX ix_form_version_import_id ON form_version (import_id);
CREATE TABLE import_batch (
	batch_id BIGSERIAL NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
	rows BIGINT DEFAULT '0' NOT NULL,
	purged BIGINT DEFAULT '0' NOT NULL,
	imported_at BIGINT DEFAULT '0' NOT NULL,
	import_id BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_import_batch PRIMARY KEY (batch_id)
);
CREATE INDEX ix_import_batch_import_id ON import_batch (import_id);
CREATE INDEX ix_import_batch_shop_key_batch_id ON import_batch (shop_key, batch_id);
CREATE TABLE import_file (
	import_id BIGSERIAL NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
	file TEXT COLLATE "C" DEFAULT '' NOT NULL,
	state TEXT COLLATE "C" DEFAULT '' NOT NULL,
	run_id BIGINT DEFAULT '0' NOT NULL,
	started_at BIGINT DEFAULT '0' NOT NULL,
	ended_at BIGINT DEFAULT '0' NOT NULL,
	rows_read BIGINT DEFAULT '0' NOT NULL,
	rows_new BIGINT DEFAULT '0' NOT NULL,
	rows_duplicate BIGINT DEFAULT '0' NOT NULL,
	rows_replaced BIGINT DEFAULT '0' NOT NULL,
	rows_rejected BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_import_file PRIMARY KEY (import_id)
);
CREATE INDEX ix_import_file_shop_key_import_id ON import_file (shop_key, import_id);
CREATE INDEX ix_import_file_started_at ON import_file (started_at);
CREATE TABLE job_run (
	run_id BIGSERIAL NOT NULL,
	job TEXT COLLATE "C" DEFAULT '' NOT NULL,
	arguments TEXT COLLATE "C" DEFAULT '' NOT NULL,
	owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
	started_at BIGINT DEFAULT '0' NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	ended_at BIGINT DEFAULT '0' NOT NULL,
	state TEXT COLLATE "C" DEFAULT '' NOT NULL,
	is_exclusive SMALLINT DEFAULT '0' NOT NULL,
	shops BIGINT DEFAULT '0' NOT NULL,
	batches BIGINT DEFAULT '0' NOT NULL,
	rows BIGINT DEFAULT '0' NOT NULL,
	phases TEXT COLLATE "C" DEFAULT '' NOT NULL,
	error TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_job_run PRIMARY KEY (run_id)
);
CREATE INDEX ix_job_run_job_run_id ON job_run (job, run_id);
CREATE INDEX ix_job_run_started_at ON job_run (started_at);
CREATE UNIQUE INDEX uq_job_run_exclusive ON job_run (job) WHERE state = 'running' AND is_exclusive = 1;
CREATE TABLE kept_facts (
	batch_id BIGINT NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	first_at BIGINT DEFAULT '0' NOT NULL,
	last_at BIGINT DEFAULT '0' NOT NULL,
	content BYTEA NOT NULL,
	CONSTRAINT pk_kept_facts PRIMARY KEY (batch_id)
);
CREATE INDEX ix_kept_facts_shop_key_last_at ON kept_facts (shop_key, last_at);
CREATE TABLE kept_key (
	key_hash BIGINT NOT NULL,
	batch_id BIGINT NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_kept_key PRIMARY KEY (key_hash, batch_id)
);
CREATE INDEX ix_kept_key_batch_id ON kept_key (batch_id);
CREATE TABLE member (
	member_key BIGSERIAL NOT NULL,
	email TEXT COLLATE "C" DEFAULT '' NOT NULL,
	password_hash TEXT COLLATE "C" DEFAULT '' NOT NULL,
	adds_shops BIGINT DEFAULT '0' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_member PRIMARY KEY (member_key),
	CONSTRAINT uq_member_email UNIQUE (email)
);
CREATE TABLE membership (
	shop_key BIGINT NOT NULL,
	member_key BIGINT NOT NULL,
	permissions TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	disabled_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	CONSTRAINT pk_membership PRIMARY KEY (shop_key, member_key)
);
CREATE INDEX ix_membership_member_key ON membership (member_key);
CREATE TABLE one_time_link (
	token_hash TEXT COLLATE "C" NOT NULL,
	purpose TEXT COLLATE "C" DEFAULT '' NOT NULL,
	member_key BIGINT DEFAULT '0' NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	expires_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_one_time_link PRIMARY KEY (token_hash)
);
CREATE INDEX ix_one_time_link_member_key ON one_time_link (member_key);
CREATE TABLE pull (
	pull_id BIGSERIAL NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	source TEXT COLLATE "C" DEFAULT '' NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	config TEXT COLLATE "C" DEFAULT '' NOT NULL,
	credentials TEXT COLLATE "C" DEFAULT '' NOT NULL,
	schedule TEXT COLLATE "C" DEFAULT '' NOT NULL,
	set_up_at BIGINT DEFAULT '0' NOT NULL,
	lookback_days BIGINT DEFAULT '0' NOT NULL,
	state TEXT COLLATE "C" DEFAULT '' NOT NULL,
	ran_at BIGINT DEFAULT '0' NOT NULL,
	status TEXT COLLATE "C" DEFAULT '' NOT NULL,
	message TEXT COLLATE "C" DEFAULT '' NOT NULL,
	rows BIGINT DEFAULT '0' NOT NULL,
	bytes BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_pull PRIMARY KEY (pull_id),
	CONSTRAINT uq_pull_name UNIQUE (name)
);
CREATE INDEX ix_pull_shop_key ON pull (shop_key);
CREATE TABLE rate_bucket (
	subject TEXT COLLATE "C" NOT NULL,
	full_at BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_rate_bucket PRIMARY KEY (subject)
);
CREATE INDEX ix_rate_bucket_full_at ON rate_bucket (full_at);
CREATE TABLE raw_event (
	shop_key BIGINT DEFAULT '0' NOT NULL,
	event_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	batch_id BIGINT DEFAULT '0' NOT NULL,
	form_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	form_session_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	visitor_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	type SMALLINT DEFAULT '0' NOT NULL,
	occurred_at BIGINT DEFAULT '0' NOT NULL,
	device SMALLINT DEFAULT '0' NOT NULL,
	step_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	step_index BIGINT DEFAULT '0' NOT NULL,
	step_name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	field_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	field_type TEXT COLLATE "C" DEFAULT '' NOT NULL,
	value TEXT COLLATE "C" DEFAULT '' NOT NULL,
	customer_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	email_sha256 TEXT COLLATE "C" DEFAULT '' NOT NULL,
	discount_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	discount_code TEXT COLLATE "C" DEFAULT '' NOT NULL,
	variant TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_source TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_medium TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_campaign TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_term TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_content TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT uq_raw_event_shop_key_event_id UNIQUE (shop_key, event_id)
);
CREATE INDEX ix_raw_event_batch_id ON raw_event (batch_id);
CREATE INDEX ix_raw_event_form_session_id_shop_key ON raw_event (form_session_id, shop_key);
CREATE TABLE raw_order (
	shop_key BIGINT DEFAULT '0' NOT NULL,
	order_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	updated_at BIGINT DEFAULT '0' NOT NULL,
	precedence TEXT COLLATE "C" DEFAULT '' NOT NULL,
	content TEXT COLLATE "C" DEFAULT '' NOT NULL,
	batch_id BIGINT DEFAULT '0' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	gross BIGINT DEFAULT '0' NOT NULL,
	refunded BIGINT DEFAULT '0' NOT NULL,
	discounted BIGINT DEFAULT '0' NOT NULL,
	customer_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	email_sha256 TEXT COLLATE "C" DEFAULT '' NOT NULL,
	visitor_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	refunds TEXT COLLATE "C" DEFAULT '' NOT NULL,
	codes TEXT COLLATE "C" DEFAULT '' NOT NULL,
	test SMALLINT DEFAULT '0' NOT NULL,
	cancelled SMALLINT DEFAULT '0' NOT NULL,
	utm_source TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_medium TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_campaign TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_term TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_content TEXT COLLATE "C" DEFAULT '' NOT NULL,
	utm_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT uq_raw_order_shop_key_order_id_updated_at_content UNIQUE (shop_key, order_id, updated_at, content)
);
CREATE INDEX ix_raw_order_batch_id ON raw_order (batch_id);
CREATE TABLE reject (
	reject_id BIGSERIAL NOT NULL,
	kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
	format TEXT COLLATE "C" DEFAULT '' NOT NULL,
	shop_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	file TEXT COLLATE "C" DEFAULT '' NOT NULL,
	line BIGINT DEFAULT '0' NOT NULL,
	reason TEXT COLLATE "C" DEFAULT '' NOT NULL,
	text TEXT COLLATE "C" DEFAULT '' NOT NULL,
	is_textual SMALLINT DEFAULT '0' NOT NULL,
	rejected_at BIGINT DEFAULT '0' NOT NULL,
	import_id BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_reject PRIMARY KEY (reject_id)
);
CREATE INDEX ix_reject_file_line ON reject (file, line);
CREATE INDEX ix_reject_rejected_at ON reject (rejected_at);
CREATE INDEX ix_reject_shop_key_rejected_at ON reject (shop_key, rejected_at);
CREATE TABLE reject_retry (
	shop_key BIGINT NOT NULL,
	asked_at BIGINT DEFAULT '0' NOT NULL,
	tried_at BIGINT DEFAULT '0' NOT NULL,
	tried_through BIGINT DEFAULT '0' NOT NULL,
	accepted BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_reject_retry PRIMARY KEY (shop_key)
);
CREATE TABLE repeated_event (
	shop_key BIGINT NOT NULL,
	event_id TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	CONSTRAINT pk_repeated_event PRIMARY KEY (shop_key, event_id, import_id)
);
CREATE INDEX ix_repeated_event_import_id ON repeated_event (import_id);
CREATE TABLE repeated_order (
	shop_key BIGINT NOT NULL,
	order_id TEXT COLLATE "C" NOT NULL,
	updated_at BIGINT NOT NULL,
	content TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	CONSTRAINT pk_repeated_order PRIMARY KEY (shop_key, order_id, updated_at, content, import_id)
);
CREATE INDEX ix_repeated_order_import_id ON repeated_order (import_id);
CREATE TABLE scheduler (
	owner TEXT COLLATE "C" NOT NULL,
	started_at BIGINT DEFAULT '0' NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	due_at BIGINT DEFAULT '0' NOT NULL,
	schedule TEXT COLLATE "C" DEFAULT '' NOT NULL,
	landing_folder TEXT COLLATE "C" DEFAULT '' NOT NULL,
	landed_files BIGINT DEFAULT '0' NOT NULL,
	landed_since BIGINT DEFAULT '0' NOT NULL,
	host_findings TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_scheduler PRIMARY KEY (owner)
);
CREATE TABLE secret (
	name TEXT COLLATE "C" NOT NULL,
	value TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_secret PRIMARY KEY (name)
);
CREATE TABLE shop (
	shop_key BIGSERIAL NOT NULL,
	shop_id TEXT COLLATE "C" DEFAULT '' NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	currency TEXT COLLATE "C" DEFAULT '' NOT NULL,
	timezone TEXT COLLATE "C" DEFAULT '' NOT NULL,
	form_rules TEXT COLLATE "C" DEFAULT '' NOT NULL,
	edition BIGINT DEFAULT '0' NOT NULL,
	data_version BIGINT DEFAULT '0' NOT NULL,
	data_changed_at BIGINT DEFAULT '0' NOT NULL,
	form_count BIGINT DEFAULT '0' NOT NULL,
	form_bytes BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_shop PRIMARY KEY (shop_key),
	CONSTRAINT uq_shop_shop_id UNIQUE (shop_id)
);
CREATE TABLE shop_version (
	shop_id TEXT COLLATE "C" NOT NULL,
	import_id BIGINT NOT NULL,
	written_at BIGINT DEFAULT '0' NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	currency TEXT COLLATE "C" DEFAULT '' NOT NULL,
	timezone TEXT COLLATE "C" DEFAULT '' NOT NULL,
	repeated_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_shop_version PRIMARY KEY (shop_id, import_id)
);
CREATE INDEX ix_shop_version_import_id ON shop_version (import_id);
CREATE TABLE sign_in (
	token_hash TEXT COLLATE "C" NOT NULL,
	member_key BIGINT DEFAULT '0' NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	started_at BIGINT DEFAULT '0' NOT NULL,
	seen_at BIGINT DEFAULT '0' NOT NULL,
	is_persistent BIGINT DEFAULT '0' NOT NULL,
	address TEXT COLLATE "C" DEFAULT '' NOT NULL,
	browser TEXT COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT pk_sign_in PRIMARY KEY (token_hash)
);
CREATE INDEX ix_sign_in_member_key ON sign_in (member_key);
CREATE INDEX ix_sign_in_started_at ON sign_in (started_at);
CREATE TABLE uncollected (
	shop_key BIGINT NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	day BIGINT DEFAULT '0' NOT NULL,
	calls BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_uncollected PRIMARY KEY (shop_key, reason)
);
CREATE TABLE write_key (
	write_key TEXT COLLATE "C" NOT NULL,
	shop_key BIGINT DEFAULT '0' NOT NULL,
	name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	origins TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
	created_at BIGINT DEFAULT '0' NOT NULL,
	revoked_at BIGINT DEFAULT '4611686018427387904' NOT NULL,
	CONSTRAINT pk_write_key PRIMARY KEY (write_key)
);
CREATE INDEX ix_write_key_shop_key ON write_key (shop_key);
ALTER TABLE daily_all_forms ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_outcome ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_time_to_complete ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_cross_field ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_response ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_response_outcome ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_utm_submission ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_utm_outcome ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_utm_order ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_discount ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_ltv_form ALTER packed_dims SET STORAGE EXTERNAL;
ALTER TABLE daily_ltv_segment ALTER packed_dims SET STORAGE EXTERNAL;
