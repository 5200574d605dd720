-- name: tenant
select last_known, last_id from tenants where tenant = :tenant;

-- name: save_tenant
insert into tenants (tenant, last_known, last_id) values (:tenant, :last_known, :last_id)
on conflict (tenant) do update set last_known = excluded.last_known, last_id = excluded.last_id;

-- name: tenants
select tenant from tenants order by tenant;

-- name: add_schema
insert into schemas (name, version, text) values (:name, :version, :text) on conflict (name, version) do nothing;

-- name: schema
select text from schemas where name = :name and version = :version;

-- name: schemas
select name, version, text from schemas order by schema_no;

-- name: episode
select * from episodes where tenant = :tenant and episode_id = :episode_id;

-- name: episode_by_no
select * from episodes where tenant = :tenant and episode_no = :episode_no;

-- name: episodes
select * from episodes where tenant = :tenant and (:status is null or status = :status) order by episode_no;

-- name: episodes_of_speaker
select * from episodes where tenant = :tenant and speaker_id = :subject order by episode_no;

-- name: turns_before
select * from episodes
where tenant = :tenant
    and session_id = :session_id
    and text is not null
    and (observed_at < :observed_at or (observed_at = :observed_at and episode_no < :episode_no))
order by observed_at desc, episode_no desc
limit :limit;

-- name: candidate
select * from candidate_status where tenant = :tenant and candidate_id = :candidate_id;

-- name: candidates_of_episode
select * from candidates where tenant = :tenant and episode_no = :episode_no order by candidate_id;

-- name: candidates_resting_on
select * from candidates
where tenant = :tenant
    and (
        episode_no = :episode_no
        or candidate_id in (select candidate_id from evidence where tenant = :tenant and episode_no = :episode_no)
    )
order by candidate_id;

-- name: candidates_of_subject
select * from candidates where tenant = :tenant and subject = :subject order by candidate_id;

-- name: key_status
select * from candidate_status
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
order by candidate_id;

-- name: has_many
select 1 from candidates
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
limit 1 offset :limit;

-- name: clean_before
select c.valid_from from candidates as c
inner join assertions as a on a.tenant = c.tenant and a.assertion_id = c.candidate_id and a.known_to is null
where c.tenant = :tenant
    and c.subject = :subject
    and c.memory_type = :memory_type
    and c.attribute = :attribute
    and c.item = :item
    and c.valid_from < :start
    and c.valid_until is null
    and not exists (
        select 1 from candidates as b
        inner join assertions as l on l.tenant = b.tenant and l.assertion_id = b.candidate_id and l.known_to is null
        where b.tenant = :tenant
            and b.subject = :subject
            and b.memory_type = :memory_type
            and b.attribute = :attribute
            and b.item = :item
            and b.valid_until is not null
            and b.valid_from <= c.valid_from
            and b.valid_until > c.valid_from
    )
order by c.valid_from desc
limit 1;

-- name: clean_after
select c.valid_from from candidates as c
inner join assertions as a on a.tenant = c.tenant and a.assertion_id = c.candidate_id and a.known_to is null
where c.tenant = :tenant
    and c.subject = :subject
    and c.memory_type = :memory_type
    and c.attribute = :attribute
    and c.item = :item
    and c.valid_from > :start
    and c.valid_from >= :end
    and c.valid_until is null
    and not exists (
        select 1 from candidates as b
        inner join assertions as l on l.tenant = b.tenant and l.assertion_id = b.candidate_id and l.known_to is null
        where b.tenant = :tenant
            and b.subject = :subject
            and b.memory_type = :memory_type
            and b.attribute = :attribute
            and b.item = :item
            and b.valid_until is not null
            and b.valid_from <= c.valid_from
            and b.valid_until > c.valid_from
    )
order by c.valid_from
limit 1;

-- name: live_between
select * from candidate_status
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
    and valid_from >= :start
    and valid_from <= :end
    and live_precedence is not null
order by candidate_id;

-- name: facts_between
select * from facts
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
    and known_to is null
    and valid_from >= coalesce(
        (
            select max(valid_from) from facts
            where tenant = :tenant
                and subject = :subject
                and memory_type = :memory_type
                and attribute = :attribute
                and item = :item
                and known_to is null
                and valid_from <= :start
        ),
        ''
    )
    and valid_from <= :end
    and (valid_to is null or valid_to > :start)
order by valid_from;

-- name: settlements
select s.* from candidates as c
inner join settlements as s on s.tenant = c.tenant and s.candidate_id = c.candidate_id
where c.tenant = :tenant
    and c.subject = :subject
    and c.memory_type = :memory_type
    and c.attribute = :attribute
    and c.item = :item
order by s.settlement_id;

-- name: decisions
select * from decisions where tenant = :tenant and candidate_id = :candidate_id order by decision_id;

-- name: evidence
select * from evidence where tenant = :tenant and candidate_id = :candidate_id order by ordinal;

-- name: holds
select s.* from holds as pending
inner join candidate_status as s on s.tenant = pending.tenant and s.candidate_id = pending.hold_id
where pending.tenant = :tenant and pending.known_to is null
order by s.candidate_id;

-- name: quarantine
select * from quarantine where tenant = :tenant order by quarantine_id;

-- name: quarantine_of_episode
select * from quarantine where tenant = :tenant and episode_no = :episode_no order by quarantine_id;

-- name: open_facts
select * from facts
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
    and known_to is null
order by valid_from;

-- name: fact
select * from fact_records where tenant = :tenant and fact_id = :fact_id;

-- name: fact_now
select * from fact_records
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
    and known_to is null
    and valid_from = (
        select max(valid_from) from facts
        where tenant = :tenant
            and subject = :subject
            and memory_type = :memory_type
            and attribute = :attribute
            and item = :item
            and known_to is null
            and valid_from <= :valid_at
    )
    and (valid_to is null or valid_to > :valid_at)
    and (expires_at is null or expires_at > :valid_at);

-- name: facts_of_subject_now
select * from fact_records
where tenant = :tenant
    and subject = :subject
    and (:memory_type is null or memory_type = :memory_type)
    and (:attribute is null or attribute = :attribute)
    and (:item is null or item = :item)
    and known_to is null
    and valid_from <= :valid_at
    and (valid_to is null or valid_to > :valid_at)
    and (expires_at is null or expires_at > :valid_at)
order by memory_type, subject, attribute, item, known_from, valid_from;

-- name: facts_of_subject
select * from fact_records
where tenant = :tenant
    and subject = :subject
    and (:memory_type is null or memory_type = :memory_type)
    and (:attribute is null or attribute = :attribute)
    and (:item is null or item = :item)
    and (
        :ever
        or (:known_at is null and known_to is null)
        or (known_from <= :known_at and (known_to is null or known_to > :known_at))
    )
    and (
        :valid_at is null
        or (
            valid_from <= :valid_at
            and (valid_to is null or valid_to > :valid_at)
            and (expires_at is null or expires_at > :valid_at)
        )
    )
order by memory_type, subject, attribute, item, known_from, valid_from;

-- name: facts_of_tenant
select * from fact_records
where tenant = :tenant
    and (:memory_type is null or memory_type = :memory_type)
    and (:attribute is null or attribute = :attribute)
    and (:item is null or item = :item)
    and (
        :ever
        or (:known_at is null and known_to is null)
        or (known_from <= :known_at and (known_to is null or known_to > :known_at))
    )
    and (
        :valid_at is null
        or (
            valid_from <= :valid_at
            and (valid_to is null or valid_to > :valid_at)
            and (expires_at is null or expires_at > :valid_at)
        )
    )
order by memory_type, subject, attribute, item, known_from, valid_from;

-- name: superseded_now
select fact_id from facts
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
    and known_to is null
    and valid_from = (
        select max(valid_from) from facts
        where tenant = :tenant
            and subject = :subject
            and memory_type = :memory_type
            and attribute = :attribute
            and item = :item
            and known_to is null
            and valid_from < :valid_from
    )
    and valid_to = :valid_from;

-- name: superseded_then
select fact_id from facts
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item
    and valid_to = :valid_from
    and known_from <= :known_at
    and (known_to is null or known_to > :known_at);

-- name: subjects
select distinct subject, memory_type from facts
where tenant = :tenant and known_to is null and (:memory_type is null or memory_type = :memory_type)
order by subject, memory_type;

-- name: erasures
select * from erasures where tenant = :tenant order by erasure_id;

-- name: has_tombstone
select 1 from tombstones where tenant = :tenant and erasure_id = :erasure_id and digest = :digest;

-- name: live_row
select * from assertions where tenant = :tenant and assertion_id = :assertion_id and known_to is null;

-- name: hold_row
select * from holds where tenant = :tenant and hold_id = :hold_id and known_to is null;

-- name: end_assertion
update assertions set known_to = :known_to
where tenant = :tenant and assertion_id = :assertion_id and known_from = :known_from;

-- name: end_hold
update holds set known_to = :known_to where tenant = :tenant and hold_id = :hold_id and known_from = :known_from;

-- name: end_fact
update facts set known_to = :known_to where tenant = :tenant and fact_id = :fact_id;

-- name: insert_episode
insert into episodes values (
    :tenant, :episode_no, :episode_id, :text, :observed_at, :source, :speaker, :speaker_id, :session_id, :zone,
    :retention, :content_hash, :captured_at, :status, :fingerprint, :extractor, :prompt_hash, :known_at, :error, :usage
);

-- name: save_episode
insert into episodes values (
    :tenant, :episode_no, :episode_id, :text, :observed_at, :source, :speaker, :speaker_id, :session_id, :zone,
    :retention, :content_hash, :captured_at, :status, :fingerprint, :extractor, :prompt_hash, :known_at, :error, :usage
)
on conflict (tenant, episode_no) do update set
    episode_id = excluded.episode_id,
    text = excluded.text,
    speaker = excluded.speaker,
    speaker_id = excluded.speaker_id,
    session_id = excluded.session_id,
    content_hash = excluded.content_hash,
    status = excluded.status,
    fingerprint = excluded.fingerprint,
    extractor = excluded.extractor,
    prompt_hash = excluded.prompt_hash,
    known_at = excluded.known_at,
    error = excluded.error,
    usage = excluded.usage;

-- name: insert_candidate
insert into candidates values (
    :tenant, :candidate_id, :episode_no, :memory_type, :subject, :attribute, :item, :item_text, :value, :identity,
    :valid_from, :valid_from_end, :precision, :valid_until, :source, :observed_at, :change, :time_rule, :from_memory,
    :confidence, :schema_name, :schema_version, :known_at, :extractor, :prompt_hash
);

-- name: insert_evidence
insert into evidence values (
    :tenant, :candidate_id, :ordinal, :episode_no, :start, :end, :quote, :role, :match, :occurrences
);

-- name: insert_decision
insert into decisions values (
    :tenant, :decision_id, :candidate_id, :known_at, :decision, :reason, :current_value, :agreed, :policy_version, :by
);

-- name: insert_assertion
insert into assertions values (:tenant, :assertion_id, :known_from, :known_to, :precedence);

-- name: insert_hold
insert into holds values (:tenant, :hold_id, :known_from, :known_to, :reason, :precedence);

-- name: insert_settlement
insert into settlements values (:tenant, :settlement_id, :candidate_id, :kind, :known_at, :by);

-- name: insert_fact
insert into facts values (
    :tenant, :fact_id, :memory_type, :subject, :attribute, :item, :value, :identity, :valid_from, :valid_to,
    :known_from, :known_to, :expires_at, :assertion_id
);

-- name: insert_quarantine
insert into quarantine values (:tenant, :quarantine_id, :episode_no, :reason, :message, :raw, :known_at);

-- name: insert_erasure
insert into erasures values (:tenant, :erasure_id, :known_at, :hmac_key, :removed);

-- name: insert_tombstone
insert into tombstones values (:tenant, :erasure_id, :digest);

-- name: erase_evidence
update evidence set quote = null where tenant = :tenant and episode_no = :episode_no;

-- name: delete_decisions
delete from decisions where tenant = :tenant and candidate_id = :candidate_id;

-- name: delete_assertions
delete from assertions where tenant = :tenant and assertion_id = :candidate_id;

-- name: delete_holds
delete from holds where tenant = :tenant and hold_id = :candidate_id;

-- name: delete_facts
delete from facts
where tenant = :tenant
    and subject = :subject
    and memory_type = :memory_type
    and attribute = :attribute
    and item = :item;

-- name: delete_evidence
delete from evidence where tenant = :tenant and candidate_id = :candidate_id;

-- name: delete_settlements
delete from settlements where tenant = :tenant and candidate_id = :candidate_id;

-- name: delete_candidate
delete from candidates where tenant = :tenant and candidate_id = :candidate_id;

-- name: delete_quarantine
delete from quarantine where tenant = :tenant and episode_no = :episode_no;

-- name: delete_episode
delete from episodes where tenant = :tenant and episode_no = :episode_no;
